import { assetUrl } from "./assets.ts";
import { type Content, type Html, html } from "./html.ts";
import { ICONS } from "./icons.ts";
import type { Viewer } from "./viewer.ts";

/** Where the sidebar leads. */
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

/** For those who run the installation. */
const INSTALLATION_SECTION = "now";

export type PageLayout = {
  /** The page's one h1, and the window's title. */
  readonly title: string;
  /** The part of the console that it belongs to; undefined for none. */
  readonly section?: (typeof SECTIONS)[number]["id"] | undefined;
  /** Null where no person is signed in. */
  readonly viewer: Viewer | null;
  /** What leads through the page in place of the console's sections. */
  readonly side?: Html;
  /** Has the h1. */
  readonly content: Content;
};

/** Nothing of what htmx can do by evaluating text is wanted: the content security policy refuses it too. */
const HTMX_CONFIG = JSON.stringify({
  includeIndicatorCSS: false,
  mode: "same-origin",
  history: true,
  noSwap: [204, 304, "4xx", "5xx"],
});

/** A whole page of the console. */
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

/** On a phone it opens the navigation, which stands at the side elsewhere. */
const MENU = html`<button class="menu-button" type="button" popovertarget="sections">Menu</button>`;

function navigation(section: PageLayout["section"], { runsInstallation }: Viewer): Html {
  const sections = SECTIONS.filter(({ id }) => runsInstallation || id !== INSTALLATION_SECTION);
  return html`<nav class="side" id="sections" aria-label="Console" popover><ul>${sections.map(
    ({ id, title, icon }) =>
      html`<li><a href="/dashboard/${id}"${id === section ? html` aria-current="page"` : ""}>${icon}${title}</a></li>`,
  )}</ul></nav>`;
}

/** Who is signed in, as what, and the way out. It opens without script. */
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

/** What every form that changes something carries. */
export function csrfField(csrf: string): Html {
  return html`<input type="hidden" name="_csrf" value="${csrf}">`;
}
