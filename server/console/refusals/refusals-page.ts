import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { EventNames } from "../../management/audit/audit-json.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { auditUrl } from "../audit/audit-query.ts";
import { numeral } from "../column-chart.ts";
import { searchForm } from "../page-links.ts";
import { urlWithQuery } from "../query-text.ts";
import { teamField } from "../team-field.ts";
import { ago, moment } from "../times.ts";
import { causeAdvice, causeText } from "./cause-words.ts";
import { REFUSAL_SPANS, type RefusalSpan } from "./refusal-spans.ts";
import type { RefusedCaller } from "./refused-callers.ts";
import { type RefusingBudgets, refusedUntil } from "./refused-until.ts";

/** Content of the page of refusals. */
export type RefusalsPage = {
  readonly team: string;
  /** Names of teams that the filter offers. */
  readonly teams: readonly string[];
  readonly span: RefusalSpan;
  readonly callers: readonly RefusedCaller[];
  /** Time up to which the log was searched backwards, in milliseconds since the epoch; undefined for the whole span. */
  readonly lookedBackTo: number | undefined;
  readonly budgets: RefusingBudgets;
  readonly names: EventNames;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const PATH = "/dashboard/refusals";
/** Maximum number of callers shown: those refused last. */
export const REFUSED_ROWS = 50;
const NETWORKS = 3;
const COLUMNS: readonly Column[] = [
  ["Who", "named"],
  ["Cause", "whole"],
  ["What to do", "named"],
  ["Requests", "number"],
  ["From", "whole"],
  ["Last", "whole"],
];

export function refusalsContent(page: RefusalsPage): Html {
  const { team, teams, span, callers } = page;
  return html`<div class="head"><h1>Denied requests</h1></div>
<form class="panel" role="search" aria-label="Denied requests" ${searchForm(PATH)}><input type="hidden" name="last" value="${span.name}"><div class="filters short">${teamField(team, teams)}<button>Search</button></div></form>
<div id="results" class="stack"><nav aria-label="Time"><ul class="tabs">${REFUSAL_SPANS.map(
    ({ name, title }) =>
      html`<li><a href="${urlWithQuery(PATH, { team, last: name })}"${name === span.name ? html` aria-current="true"` : ""}>${title}</a></li>`,
  )}</ul></nav>
<div class="panel flush">${callers.length === 0 ? nothing(page) : callerTable(page)}<div class="foot"><p class="muted small" role="status">${boundsText(page)}</p><a class="button" href="${auditUrl({ team, action: "request.refused" }, "/dashboard/audit")}">Audit log</a></div></div></div>`;
}

function callerTable({ callers, budgets, names, now }: RefusalsPage): Html {
  const rows = callers
    .slice(0, REFUSED_ROWS)
    .map((caller) => [
      who(caller, names),
      causeText(caller.cause),
      html`${refusedUntil(caller, budgets, now)}${causeAdvice(caller.cause)}`,
      numeral(caller.count),
      networksText(caller.networks),
      ago(rfc3339Millis(caller.lastAt), now),
    ]);
  return table("Denied requests", COLUMNS, rows);
}

function who({ keyId, principal, teamId }: RefusedCaller, { keys, teams }: EventNames): Content {
  const team = teamId !== null && html`<small>${teams.get(teamId) ?? teamId}</small>`;
  if (keyId !== null) {
    return html`<a href="/dashboard/keys/${keyId}">${keys.get(keyId)?.name ?? keyId}</a>${team}`;
  }
  return html`${principal ?? "No key that is known"}${team}`;
}

function networksText(networks: readonly string[]): Content {
  const more = networks.length - NETWORKS;
  return html`${networks.slice(0, NETWORKS).map((network) => html`<span class="line">${network}</span>`)}${more > 0 && html`<small>and ${more} more</small>`}`;
}

function nothing({ span }: RefusalsPage): Html {
  return html`<div class="empty"><h2>No request was refused</h2><p class="muted">${span.title}: none, of what you may see.</p></div>`;
}

function boundsText({ callers, span, lookedBackTo, now }: RefusalsPage): Content {
  const cut =
    callers.length > REFUSED_ROWS && ` The ${REFUSED_ROWS} that were refused last are shown, of ${callers.length}.`;
  const back =
    lookedBackTo !== undefined &&
    html` There are too many to look through: only those since ${moment(rfc3339Millis(lookedBackTo), now)} are counted.`;
  return html`${span.title}, as the audit log has them: of very many at once a sample, a minute behind.${cut}${back}`;
}
