import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { type LoggedDelivery, type LoggedWebhook, MAX_COUNTED } from "../../../store/webhooks/delivery-log.ts";
import { teamField } from "../asked-teams.ts";
import { type Content, type Html, html } from "../html.ts";
import { csrfField } from "../layout.ts";
import { countOnPage, foot, searchForm } from "../page-links.ts";
import { urlOf } from "../query-text.ts";
import { absolute, ago, agoInWords } from "../times.ts";
import type { Viewer } from "../viewer.ts";

/** What the page of webhooks shows. */
export type WebhooksPage = {
  readonly query: { readonly team: string; readonly afterId: string | undefined };
  readonly webhooks: readonly LoggedWebhook[];
  /** Whether there are more than are shown. */
  readonly areMore: boolean;
  readonly deliveries: readonly LoggedDelivery[];
  /** The last id of this page, where there is another. */
  readonly nextId: string | undefined;
  /** Names to choose from. */
  readonly teams: readonly string[];
  readonly viewer: Viewer;
  mayRedeliver(teamId: string): boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const PATH = "/dashboard/webhooks";

const STATES = {
  pending: { word: "Waiting", tone: "warn" },
  delivered: { word: "Delivered", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  stopped: { word: "Stopped", tone: "" },
} as const satisfies Record<LoggedDelivery["state"], { word: string; tone: string }>;

export function webhooksContent(page: WebhooksPage): Html {
  const { query, teams, webhooks, deliveries } = page;
  return html`<div class="head"><div><p class="crumb"><a href="/dashboard/team">Team</a></p><h1>Webhooks</h1></div></div>
${
  (teams.length > 1 || query.team !== "") &&
  html`<form class="panel" role="search" aria-label="Webhooks" ${searchForm(PATH)}><div class="filters short">${teamField(query.team, teams)}<button>Search</button></div></form>`
}
<div id="results" class="stack">
<section class="panel flush" aria-labelledby="receivers"><h2 id="receivers">Receivers</h2>${
    webhooks.length === 0 ? noWebhooks() : receivers(page)
  }</section>
<section class="panel flush" aria-labelledby="deliveries"><h2 id="deliveries">Deliveries</h2>${
    deliveries.length === 0
      ? html`<div class="empty"><p class="muted">Nothing has been told yet, or it was so long ago that it is not kept.</p></div>`
      : log(page)
  }</section></div>`;
}

function noWebhooks(): Html {
  return html`<div class="empty"><h3>No webhooks yet</h3><p class="muted">A webhook is told when a key of the team is rotated, revoked, reported as leaked or about to end. Declare it under <code>spec.webhooks</code> of the PlatformTeam, with a Secret that it is signed with.</p></div>`;
}

/** With roles that the narrow layout would take away: there a row is a card. */
function table(label: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  return html`<table class="table" role="table" aria-label="${label}"><thead role="rowgroup"><tr role="row">${columns.map(
    (column) => html`<th role="columnheader" scope="col">${column}</th>`,
  )}</tr></thead><tbody role="rowgroup">${rows.map(
    (cells) =>
      html`<tr role="row">${cells.map(
        ([title, content, name]) =>
          html`<td role="cell" data-label="${title}" class="${name}"><span>${content}</span></td>`,
      )}</tr>`,
  )}</tbody></table>`;
}

type Cell = readonly [title: string, content: Content, className?: string];

function receivers({ webhooks, areMore }: WebhooksPage): Html {
  const rows = webhooks.map(({ url, team, events, hasSecret, waiting }): Cell[] => [
    ["URL", html`<code class="address">${url}</code>`],
    ["Team", team, "named"],
    ["Events", html`<span class="chips">${events.map((event) => html`<span class="chip">${event}</span>`)}</span>`],
    [
      "Signing secret",
      hasSecret
        ? html`<span class="badge good">There</span>`
        : html`<span class="badge bad">Missing</span><span class="line muted small">Nothing is sent. The team's condition ResolvedRefs says which Secret is looked for.</span>`,
    ],
    ["Waiting", waiting === MAX_COUNTED ? `${waiting} and more` : String(waiting), "whole"],
  ]);
  return html`${table("Receivers", ["URL", "Team", "Events", "Signing secret", "Waiting"], rows)}${
    areMore && html`<div class="foot"><p class="muted small">There are more: write a team's name above.</p></div>`
  }`;
}

function log(page: WebhooksPage): Html {
  const { query, deliveries, nextId } = page;
  const columns = ["Time (UTC)", "Event", "Key", "To", "State", "Tries"];
  return html`${table(
    "Deliveries",
    columns,
    deliveries.map((delivery) => row(delivery, page)),
  )}${foot({
    said: `${countOnPage(deliveries.length, "delivery", "deliveries")}, the latest first`,
    first: query.afterId && urlOf(PATH, { team: query.team }),
    next: nextId === undefined ? undefined : urlOf(PATH, { team: query.team, after: nextId }),
    isPartial: false,
  })}`;
}

function row(delivery: LoggedDelivery, page: WebhooksPage): Cell[] {
  const { id, at, event, keyId, keyName, team, url, tries, triedAt } = delivery;
  const { now, viewer, mayRedeliver } = page;
  const iso = rfc3339Millis(at);
  return [
    [
      "Time (UTC)",
      html`<time datetime="${iso}" title="${absolute(iso)}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time><span class="line muted small">${agoInWords(at, now)}</span>`,
      "whole",
    ],
    ["Event", html`<code>${event}</code>`, "whole"],
    [
      "Key",
      html`<a href="/dashboard/keys/${keyId}">${keyName}</a><span class="line muted small">${team}</span>`,
      "named",
    ],
    ["To", html`<code class="address">${url}</code><span class="line muted small">${id}</span>`],
    ["State", state(delivery, now), "named"],
    [
      "Tries",
      html`${tries}${triedAt !== null && html`<span class="line muted small">last ${ago(rfc3339Millis(triedAt), now)}</span>`}${
        mayRedeliver(delivery.teamId) &&
        html`<form class="line" method="post" action="${PATH}/deliveries/${id}/redeliver">${csrfField(viewer.csrf)}<button class="small" aria-label="Redeliver ${event} of ${keyName}">Redeliver</button></form>`
      }`,
      "whole",
    ],
  ];
}

function state({ state, status, why, nextTryAt }: LoggedDelivery, now: number): Html {
  const { word, tone } = STATES[state];
  return html`<span class="badge ${tone}">${word}</span>${
    why !== null && html`<span class="line small">${why}</span>`
  }${status !== null && why === null && html`<span class="line muted small">answered ${status}</span>`}${
    nextTryAt !== null &&
    html`<span class="line muted small">${nextTryAt <= now ? "being tried" : html`next try ${ago(rfc3339Millis(nextTryAt), now)}`}</span>`
  }`;
}
