import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import {
  type LoggedDelivery,
  type LoggedWebhook,
  MAX_COUNTED_DELIVERIES,
} from "../../../store/webhooks/delivery-log.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { csrfField } from "../../pages/layout.ts";
import { type Column, table } from "../../pages/table.ts";
import type { Viewer } from "../../pages/viewer.ts";
import { chips } from "../facts.ts";
import { inParts } from "../in-parts.ts";
import { countOnPage, foot, searchForm } from "../page-links.ts";
import { urlWithQuery } from "../query-text.ts";
import { teamField } from "../team-field.ts";
import { ago, exactMoment } from "../times.ts";

/** Content of the page of webhooks. */
export type WebhooksPage = {
  readonly query: {
    readonly team: string;
    readonly afterId: string | undefined;
    /** Filter of the deliveries: those that failed, or all. */
    readonly state: "failed" | "";
  };
  readonly webhooks: readonly LoggedWebhook[];
  /** True if there are more webhooks than are shown. */
  readonly areMore: boolean;
  readonly deliveries: readonly LoggedDelivery[];
  /** Id of the last delivery on this page; null on the last page. */
  readonly nextId: string | null;
  /** Names of teams that the filter offers. */
  readonly teams: readonly string[];
  readonly viewer: Viewer;
  mayRedeliver(teamId: string): boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const PATH = "/dashboard/webhooks";
const DELIVERIES_SHOWN = [
  ["", "All"],
  ["failed", "Failed"],
] as const;

const STATES = {
  pending: { word: "Waiting", tone: "warn" },
  delivered: { word: "Delivered", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  stopped: { word: "Stopped", tone: "" },
} as const satisfies Record<LoggedDelivery["state"], { word: string; tone: string }>;

export function webhooksContent(page: WebhooksPage): Html {
  const { query, teams, webhooks, deliveries } = page;
  return html`<div class="head"><h1>Webhooks</h1></div>
<form class="panel" role="search" aria-label="Webhooks" ${searchForm(PATH)}><div class="filters short">${
    (teams.length > 1 || query.team !== "") && teamField(query.team, teams)
  }<div class="field"><label for="state">Deliveries</label><select id="state" name="state">${DELIVERIES_SHOWN.map(
    ([value, said]) => html`<option value="${value}"${value === query.state ? html` selected` : ""}>${said}</option>`,
  )}</select></div><button>Search</button></div></form>
<div id="results" class="stack">
<section class="panel flush" aria-labelledby="receivers"><h2 id="receivers">Receivers</h2>${
    webhooks.length === 0 ? noWebhooks() : receivers(page)
  }</section>
<section class="panel flush" aria-labelledby="deliveries"><h2 id="deliveries">Deliveries</h2>${
    deliveries.length === 0
      ? html`<div class="empty"><p class="muted">${
          query.state === "failed" ? "None has failed" : "No deliveries yet"
        }, or none that are still kept.</p></div>`
      : log(page)
  }</section></div>`;
}

function noWebhooks(): Html {
  return html`<div class="empty"><h3>No webhooks yet</h3><p class="muted">A webhook is notified when a key of the team is rotated, revoked, reported as leaked or about to end, and when much of a budget is used. Declare it under <code>spec.webhooks</code> of the PlatformTeam, with a Secret that it is signed with.</p></div>`;
}

const RECEIVERS: readonly Column[] = ["URL", ["Team", "named"], "Events", "Signing secret", ["Waiting", "number"]];

function receivers({ webhooks, areMore }: WebhooksPage): Html {
  const rows = webhooks.map(({ url, team, events, hasSecret, waiting }) => [
    html`<code>${inParts(url)}</code>`,
    team,
    chips(events),
    hasSecret
      ? html`<span class="badge good">There</span>`
      : html`<span class="badge bad">Missing</span><small>Nothing is sent. The team's condition ResolvedRefs says which Secret is looked for.</small>`,
    waiting === MAX_COUNTED_DELIVERIES ? `${waiting} and more` : String(waiting),
  ]);
  return html`${table("Receivers", RECEIVERS, rows)}${
    areMore && html`<div class="foot"><p class="muted small">There are more: write a team's name above.</p></div>`
  }`;
}

const DELIVERIES: readonly Column[] = [
  ["Time", "whole"],
  ["Event", "whole"],
  ["Of", "named"],
  "To",
  ["State", "named"],
  ["Tries", "whole"],
];

function log(page: WebhooksPage): Html {
  const { query, deliveries, nextId } = page;
  const rows = deliveries.map((delivery) => cellsOf(delivery, page));
  return html`${table("Deliveries", DELIVERIES, rows)}${foot({
    said: `${countOnPage(deliveries.length, "delivery", "deliveries")}, the latest first`,
    first: query.afterId && urlWithQuery(PATH, { team: query.team, state: query.state }),
    next: nextId === null ? undefined : urlWithQuery(PATH, { team: query.team, state: query.state, after: nextId }),
    isPartial: false,
  })}`;
}

function cellsOf(delivery: LoggedDelivery, page: WebhooksPage): Content[] {
  const { id, at, event, keyId, name, team, url, tries, triedAt } = delivery;
  const { now, viewer, mayRedeliver } = page;
  return [
    exactMoment(at, now),
    html`<code>${event}</code>`,
    keyId === null
      ? html`${name}<small>the team itself</small>`
      : html`<a href="/dashboard/keys/${keyId}">${name}</a><small>${team}</small>`,
    html`<code>${inParts(url)}</code><small>${id}</small>`,
    state(delivery, now),
    html`${tries}${triedAt !== null && html`<small>last ${ago(rfc3339Millis(triedAt), now)}</small>`}${
      mayRedeliver(delivery.teamId) &&
      html`<form class="line" method="post" action="${PATH}/deliveries/${id}/redeliver">${csrfField(viewer.csrf)}<button class="small" aria-label="Redeliver ${event} of ${name}">Redeliver</button></form>`
    }`,
  ];
}

function state({ state, status, why, nextTryAt }: LoggedDelivery, now: number): Html {
  const { word, tone } = STATES[state];
  return html`<span class="badge ${tone}">${word}</span>${
    why !== null && html`<span class="line small">${why}</span>`
  }${status !== null && why === null && html`<small>answered ${status}</small>`}${
    nextTryAt !== null &&
    html`<small>${nextTryAt <= now ? "being tried" : html`next try ${ago(rfc3339Millis(nextTryAt), now)}`}</small>`
  }`;
}
