import { counted } from "../../../domain/counted.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { chartLegend, columnChart, numeral, shortNumeral } from "../column-chart.ts";
import { refName } from "../keys/key-words.ts";
import type { ScopedRequests } from "../keys/page/requests-chart.ts";
import { urlWithQuery } from "../query-text.ts";
import type { SeenUsage, UsageTable, Used } from "./see-usage.ts";
import { allTokensOf, figureColumns, gapsText, TOKEN_SERIES, unpricedText, usageTotals } from "./usage-figures.ts";
import { USAGE_RANGES, type UsageRange } from "./usage-ranges.ts";

const REQUESTS_SERIES = 5;

/** Titles of the tables by group. A table by model counts no requests. */
const TABLES = {
  key: { title: "By key", heading: "Key" },
  team: { title: "By team", heading: "Team" },
  model: { title: "By model", heading: "Model" },
} as const;

/** Location of a panel. */
export type PanelLocation = {
  /** Path of its page. */
  readonly path: string;
  /** Parameters of the page's URL besides the range. */
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Name of the team that the usage and the links to models are limited to; undefined for all teams that the viewer
   * sees.
   */
  readonly team?: string;
};

/**
 * Shows requests and tokens of an hour, a day or 30 days, as charts and as tables below them.
 *
 * @param scoped requests of a key by scope, if the range has them
 */
export function usagePanel(seen: SeenUsage, location: PanelLocation, scoped?: ScopedRequests): Html {
  const { range, total } = seen;
  return html`<section class="panel" id="usage" aria-labelledby="usage-title"><div class="head"><h2 id="usage-title">Usage</h2>${ranges(range, location)}</div>
${(total.requests ?? 0) + total.figures.calls === 0 ? nothing(seen) : used(seen, location, scoped)}</section>`;
}

function ranges(shown: UsageRange, { path, query }: PanelLocation): Html {
  return html`<nav aria-label="Time"><ul class="tabs">${USAGE_RANGES.map(
    ({ name, title }) =>
      html`<li><a href="${urlWithQuery(path, { ...query, usage: name })}#usage"${name === shown.name ? html` aria-current="true"` : ""}>${title}</a></li>`,
  )}</ul></nav>`;
}

function nothing({ range: { title }, isOfAnswers }: SeenUsage): Html {
  const said = isOfAnswers
    ? "no answers of models. They are counted as they end"
    : "no requests. They are counted as they are let through";
  return html`<p class="muted">${title}: ${said}, and shown here some ten seconds later.</p>`;
}

function used(seen: SeenUsage, location: PanelLocation, scoped: ScopedRequests | undefined): Html {
  const { range, pieces, total, tables, currency, isOfAnswers } = seen;
  const kinds = TOKEN_SERIES.map((kind, series) => ({ ...kind, series })).filter(({ of }) => of(total.figures) > 0);
  const label = (from: number) => (range.name === "month" ? monthDay(from) : clock(from));
  const chart = { title: "", labelEvery: range.labelEvery };
  const [calls, noun] = isOfAnswers ? (["Answers", "answer"] as const) : (["Requests", "request"] as const);
  const callsOf = ({ requests = 0, figures }: Used) => (isOfAnswers ? figures.calls : requests);
  const callsChart =
    scoped?.chart ??
    columnChart({
      ...{ ...chart, title: calls, said: numeral(callsOf(total)) },
      summary: `${calls}, ${range.title.toLowerCase()}, ${range.every}: ${numeral(callsOf(total))}. Each time is in the table below`,
      columns: pieces.map((piece) => ({
        label: label(piece.from),
        pieces:
          callsOf(piece) === 0
            ? []
            : [
                {
                  series: REQUESTS_SERIES,
                  count: callsOf(piece),
                  title: `${label(piece.from)}: ${counted(callsOf(piece), noun)}`,
                },
              ],
      })),
    });
  const tokens = columnChart({
    ...{ ...chart, title: "Tokens", said: shortNumeral(allTokensOf(total.figures)) },
    summary: `Tokens, ${range.title.toLowerCase()}, ${range.every}: ${kinds.map(({ name, of }) => `${numeral(of(total.figures))} ${name.toLowerCase()}`).join(", ")}. Each time is in the table below`,
    columns: pieces.map(({ from, figures }) => ({
      label: label(from),
      pieces: kinds
        .map(({ series, name, of }) => ({ series, name, count: of(figures) }))
        .filter(({ count }) => count > 0)
        .map(({ series, name, count }) => ({
          series,
          count,
          title: `${label(from)}: ${numeral(count)} ${name.toLowerCase()}`,
        })),
    })),
  });
  const columns = figureColumns(!isOfAnswers, [total.figures], currency);
  return html`${usageTotals(total, currency)}${unpricedText(total, currency)}<div class="charts two"><div>${callsChart}${scoped?.legend}</div>${
    kinds.length > 0 && html`<div>${tokens}${chartLegend("Kinds of tokens in the chart", kinds)}</div>`
  }</div>
${tables.map((one) => groupTable(one, seen, location))}
<details><summary>By time</summary>${table(
    "Usage by time",
    ["From", ...columns.map(([heading]) => heading)],
    pieces
      .filter((piece) => callsOf(piece) + piece.figures.calls > 0)
      .toReversed()
      .map((piece) => [label(piece.from), ...columns.map(([, shown]) => shown(piece))]),
    "figures",
  )}${scoped?.table}</details>
<p class="muted small">${isOfAnswers ? "Answers of models with a status of success, and the tokens that they reported" : "Requests that were let through, and tokens as the models' answers reported them"}. Total is input and output together. As of some ten seconds ago; times are UTC.${gapsText(total.figures)}${scoped?.note}</p>`;
}

function groupTable(
  { by, rows, isCut }: UsageTable,
  { range, currency }: SeenUsage,
  location: PanelLocation,
): Html | string {
  if (rows.length === 0) return "";
  const { title, heading } = TABLES[by === "key" || by === "team" ? by : "model"];
  const figures = figureColumns(
    rows[0]?.requests !== undefined,
    rows.map((row) => row.figures),
    currency,
  );
  const columns: readonly Column[] = [[heading, "named"], ...figures.map(([name]) => name)];
  const cells = rows.map((row) => [nameOf(by, row, range, location), ...figures.map(([, shown]) => shown(row))]);
  return html`<h3>${title}</h3>${table(`Usage ${title.toLowerCase()}`, columns, cells, "figures")}${
    isCut &&
    html`<p class="muted small">The ${rows.length} of most requests and answers: <code>keyplane get usage</code> has all.</p>`
  }`;
}

function nameOf(
  by: UsageTable["by"],
  { group, name }: UsageTable["rows"][number],
  range: UsageRange,
  { team = "" }: PanelLocation,
): Content {
  if (by === "model") {
    const url = urlWithQuery("/dashboard/usage", { team, model: group, usage: range.name });
    return html`<a href="${url}" aria-label="Keys that use ${group}"><code>${group}</code></a>`;
  }
  if (name === undefined) return html`<code>${group}</code>`;
  const path = by === "team" ? `/dashboard/team/${group}` : `/dashboard/keys/${group}`;
  return html`<a href="${path}">${refName(name)}</a>${by === "key" && team === "" && html`<small>${name.team}</small>`}`;
}

function clock(at: number): string {
  return rfc3339Millis(at).slice(11, 16);
}

function monthDay(at: number): string {
  return rfc3339Millis(at).slice(5, 10);
}
