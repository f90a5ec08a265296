import type { FoundAudit, StoredAuditEvent } from "../../../store/audit/audit-search.ts";
import type { BoundedCount } from "../../../store/database/bounded-count.ts";
import type { EventNames } from "../../management/audit/audit-json.ts";
import { MAX_ACTOR_LENGTH } from "../../management/audit/audit-question.ts";
import { EVENT_TITLES } from "../../management/audit/event-text.ts";
import { type Content, flag, type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import type { Viewer } from "../../pages/viewer.ts";
import { numeral } from "../column-chart.ts";
import { inParts } from "../in-parts.ts";
import { countOnPage, foot, inAll, searchForm } from "../page-links.ts";
import { teamField } from "../team-field.ts";
import { exactMoment } from "../times.ts";
import { AUDIT_CSV } from "./audit-formats.ts";
import { type AuditQuery, auditUrl, momentText } from "./audit-query.ts";
import { auditDetail, toneOfAction } from "./audit-words.ts";
import type { ReferenceNames } from "./reference-names.ts";
import { userAgentWords } from "./user-agent.ts";

/** Content of a page of the audit log. */
export type AuditPage = FoundAudit & {
  readonly query: AuditQuery;
  /** Number of events that these filters find on all pages. */
  readonly total: BoundedCount;
  /** Names of teams that the filter offers. */
  readonly teams: readonly string[];
  readonly names: EventNames;
  readonly references: ReferenceNames;
  readonly viewer: Viewer;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const PATH = "/dashboard/audit";
const COLUMNS: readonly Column[] = [["Time", "whole"], ["Action", "word"], ["About", "named"], ["By", "named"], "What"];
/** Events of the installation, which only its administrators see. */
const OF_NO_TEAM: ReadonlySet<string> = new Set([
  "session.begun",
  "session.ended",
  "console_link.made",
  "bootstrap_token.used",
  "policies.forgotten",
]);
const HOUR = 3_600_000;
const SPANS = [
  { title: "Last hour", ms: HOUR },
  { title: "Last 24 hours", ms: 24 * HOUR },
  { title: "Last 7 days", ms: 7 * 24 * HOUR },
] as const;

export function auditContent(page: AuditPage): Html {
  const { query, events, next, isPartial, total } = page;
  return html`<div class="head"><h1>Audit log</h1></div>
${filters(page)}
<div id="results" class="stack">${spans(page)}
<div class="panel flush">${events.length === 0 ? nothing(page) : eventTable(page)}${
    (events.length > 0 || next !== null || query.after !== undefined) &&
    foot({
      said: isPartial
        ? "More may match: the rest of the log is still to be looked through."
        : `${countOnPage(events.length, "event", "events")}, ${inAll(total)}`,
      first: query.after && auditUrl({ ...query, after: undefined }, PATH),
      next: next === null ? undefined : auditUrl({ ...query, after: next }, PATH),
      isPartial,
    })
  }<div class="foot"><p class="muted small">Exports have all that these filters find; as CSV ${numeral(AUDIT_CSV.most)} events at most.</p><p class="actions"><a class="button" href="${auditUrl({ ...query, after: undefined }, "/dashboard/audit/export.csv")}">Export as CSV</a><a class="button" href="${auditUrl({ ...query, after: undefined }, "/dashboard/audit/export")}">Export as JSON Lines</a></p></div></div></div>`;
}

/**
 * Renders links to time spans. They are part of the results, so that they keep what was typed since the page was
 * opened.
 */
function spans({ query, now }: AuditPage): Html {
  return html`<p class="actions small">${SPANS.map(({ title, ms }) => html`<a href="${auditUrl({ ...query, after: undefined, to: undefined, from: now - ms }, PATH)}">${title}</a>`)}<a href="${PATH}">Clear filters</a></p>`;
}

function filters({ query, teams, viewer }: AuditPage): Html {
  const { team, actor, action, about, from, to } = query;
  const offered = Object.entries(EVENT_TITLES).filter(([kind]) => viewer.runsInstallation || !OF_NO_TEAM.has(kind));
  const isOffered = action === "" || offered.some(([kind]) => kind === action);
  const actions = isOffered ? offered : [...offered, [action, EVENT_TITLES[action] ?? action] as const];
  return html`<form class="panel" role="search" aria-label="Audit log" ${searchForm(PATH)}>
<div class="filters audit">
<div class="field"><label for="about">About</label><input id="about" name="about" type="search" aria-keyshortcuts="/" value="${about}" placeholder="A key's prefix, an id or a name" maxlength="253" autocomplete="off" spellcheck="false" data-search></div>
<div class="field"><label for="action">Action</label><select id="action" name="action"><option value="">Any</option>${actions.map(
    ([kind, words]) =>
      html`<option value="${kind}" ${flag("selected", kind === action)}>${words}${words !== kind && ` (${kind})`}</option>`,
  )}</select></div>
<div class="field"><label for="actor">By</label><input id="actor" name="actor" value="${actor}" placeholder="Any" maxlength="${MAX_ACTOR_LENGTH}" autocomplete="off" spellcheck="false"></div>
${teamField(team, teams)}
<div class="field"><label for="from">From (UTC)</label>${momentField("from", from)}</div>
<div class="field"><label for="to">To (UTC)</label>${momentField("to", to)}</div>
<button>Search</button>
</div></form>`;
}

function momentField(name: "from" | "to", at: number | undefined): Html {
  return html`<input id="${name}" name="${name}" type="datetime-local" step="1" value="${at === undefined ? "" : momentText(at)}">`;
}

function eventTable(page: AuditPage): Html {
  const rows = page.events.map((event) => [
    exactMoment(event.at, page.now),
    action(event),
    about(event, page),
    by(event),
    auditDetail(event, page.references),
  ]);
  return table("Audit log", COLUMNS, rows, "dense");
}

function action({ kind }: StoredAuditEvent): Html {
  return html`<span class="badge ${toneOfAction(kind)}">${EVENT_TITLES[kind] ?? kind}</span><span class="line small"><a href="${auditUrl({ action: kind }, PATH)}">${kind}</a></span>`;
}

function about({ keyId, teamId, detail }: StoredAuditEvent, { names }: AuditPage): Content {
  const { id, name } = detail;
  const team = teamId === null ? undefined : (names.teams.get(teamId) ?? teamId);
  const whose = team !== undefined && html`<small>${team}</small>`;
  if (keyId !== null) {
    return html`<a class="name" href="/dashboard/keys/${keyId}">${names.keys.get(keyId)?.name ?? keyId}</a>${whose}`;
  }
  if (typeof name !== "string") return whose || "The installation";
  const search = typeof id === "string" ? id : name;
  return html`<a class="name" href="${auditUrl({ about: search }, PATH)}">${name}</a>${name !== team && whose}`;
}

function by({ actor, detail: { actorName, address, userAgent } }: StoredAuditEvent): Html {
  const isNamed = typeof actorName === "string" && actorName !== "";
  const shown = isNamed ? actorName : shortActor(actor);
  const from = [isNamed && shortActor(actor), address].filter((text) => typeof text === "string").join(" · ");
  return html`${actor.length > MAX_ACTOR_LENGTH ? shown : html`<a href="${auditUrl({ actor }, PATH)}">${shown}</a>`}${from !== "" && html`<small>${from}</small>`}${typeof userAgent === "string" && userAgent !== "" && program(userAgent)}`;
}

/** Shows the program that a person used, with the whole User-Agent folded in behind it. */
function program(userAgent: string): Html {
  const words = userAgentWords(userAgent);
  if (words === userAgent) return html`<small>${words}</small>`;
  return html`<details class="small"><summary>${words}</summary>${inParts(userAgent)}</details>`;
}

function shortActor(actor: string): string {
  return actor.length > MAX_ACTOR_LENGTH ? `${actor.slice(0, 200)}…` : actor;
}

function nothing({ query, isPartial }: AuditPage): Html {
  if (isPartial) return html`<div class="empty"><p>None of the events that were looked through so far.</p></div>`;
  const isFiltered = auditUrl(query, PATH) !== PATH;
  return isFiltered
    ? html`<div class="empty"><h2>No event matches</h2><p class="muted">Look over a longer time, or for the first 12 characters of a key, an id or a whole name.</p><a class="button" href="${PATH}">Show the whole log</a></div>`
    : html`<div class="empty"><h2>Nothing has happened yet</h2><p class="muted">What is changed of your teams' keys, gateways and libraries is written here, with who did it and from where.</p><a class="button" href="/dashboard/keys">To the API keys</a></div>`;
}
