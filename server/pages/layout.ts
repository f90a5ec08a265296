import { assetUrl } from "./assets.ts";
import { type Content, type Html, html } from "./html.ts";
import { ICONS } from "./icons.ts";
import type { Viewer } from "./viewer.ts";

/** Entries of the sidebar. */
const SECTIONS = [
  { id: "keys", title: "API keys", icon: ICONS.key },
  { id: "libraries", title: "Libraries", icon: ICONS.library },
  { id: "gateways", title: "Gateways", icon: ICONS.gateway },
  { id: "team", title: "Teams", icon: ICONS.team },
  { id: "webhooks", title: "Webhooks", icon: ICONS.webhook },
  { id: "usage", title: "Usage", icon: ICONS.usage },
  { id: "refusals", title: "Denied requests", icon: ICONS.refusal },
  { id: "audit", title: "Audit log", icon: ICONS.log },
  { id: "now", title: "Health", icon: ICONS.now },
] as const;

/** Section for those who run the installation. */
const INSTALLATION_SECTION = "now";

export type PageLayout = {
  /** Title of the window, as in the page's only h1. */
  readonly title: string;
  /** Section of the console that the page belongs to; undefined for none. */
  readonly section?: (typeof SECTIONS)[number]["id"] | undefined;
  /** Signed-in person; null for none. */
  readonly viewer: Viewer | null;
  /** Navigation that replaces the console's sections. */
  readonly side?: Html;
  /** Content of the page, with its h1. */
  readonly content: Content;
};

/** Settings that turn off all that htmx does by evaluating text, which the content security policy refuses too. */
const HTMX_CONFIG = JSON.stringify({
  includeIndicatorCSS: false,
  mode: "same-origin",
  history: true,
  noSwap: [204, 304, "4xx", "5xx"],
});

/** Renders a whole page of the console. */
export function layout({ title, section, viewer, side, content }: PageLayout): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content="${HTMX_CONFIG}">
<title>${title} · Keyplane</title>
<link rel="icon" href="${assetUrl("icon")}" type="image/svg+xml">
<link rel="stylesheet" href="${assetUrl("styles")}">
<script src="${assetUrl("htmx")}" defer></script>
<script src="${assetUrl("script")}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
${side === undefined && viewer && MENU}
<a class="brand" href="/dashboard/keys">${ICONS.key}Keyplane</a>
<a href="/docs">API reference</a>
${viewer && account(viewer)}
</header>
${side ?? (viewer && navigation(section, viewer))}
<main id="main" tabindex="-1">
${content}
</main>
</body>
</html>
`;
}

/** Button that opens the navigation on a phone. On wider screens the navigation is always visible. */
const MENU = html`<button class="menu-button" type="button" popovertarget="sections">Menu</button>`;

function navigation(section: PageLayout["section"], { runsInstallation }: Viewer): Html {
  const sections = SECTIONS.filter(({ id }) => runsInstallation || id !== INSTALLATION_SECTION);
  return html`<nav class="side" id="sections" aria-label="Console" popover><ul>${sections.map(
    ({ id, title, icon }) =>
      html`<li><a href="/dashboard/${id}"${id === section ? html` aria-current="page"` : ""}>${icon}${title}</a></li>`,
  )}</ul></nav>`;
}

/** Renders the menu of the account: who is signed in, with which roles, and the sign-out. It opens without script. */
function account({ name, runsInstallation, roles, csrf }: Viewer): Html {
  const role = runsInstallation ? "Administrator of this installation" : rolesText(roles);
  return html`<details class="menu account"><summary class="button" aria-label="Account: ${name}"><span class="who">${name}</span></summary><div>
<p><span class="muted small line">Signed in as</span><strong>${name}</strong></p>
<p><span class="muted small line">Role</span>${role}</p>
<a class="button" href="/dashboard/team">Your teams</a>
<form method="post" action="/dashboard/sign-out">${csrfField(csrf)}<button>Sign out</button></form></div></details>`;
}

function rolesText(roles: Viewer["roles"]): string {
  if (roles === undefined) return "As your teams say";
  const names = [...new Set(roles.map(({ role }) => role))].sort().join(", ");
  const teams = new Set(roles.map(({ teamId }) => teamId)).size;
  return teams === 0 ? "None: you are in no team" : `${names} in ${teams === 1 ? "one team" : `${teams} teams`}`;
}

/** Renders the token that every form carries which changes something. */
export function csrfField(csrf: string): Html {
  return html`<input type="hidden" name="_csrf" value="${csrf}">`;
}
