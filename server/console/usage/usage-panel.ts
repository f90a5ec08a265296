import { counted } from "../../../domain/counted.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { TokenFigures } from "../../../domain/usage/token-count.ts";
import { isWholeCost } from "../../../domain/usage/usage-cost.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { chartLegend, columnChart, numeral, shortNumeral } from "../column-chart.ts";
import { refName } from "../keys/key-words.ts";
import type { ScopedRequests } from "../keys/page/requests-chart.ts";
import { urlWithQuery } from "../query-text.ts";
import type { SeenUsage, UsageTable, Used } from "./see-usage.ts";
import { USAGE_RANGES, type UsageRange } from "./usage-ranges.ts";

/** The kinds of tokens that a chart tells apart: no kind is part of another. */
const KINDS: readonly { readonly name: string; of(figures: TokenFigures): number }[] = [
  { name: "Input", of: ({ input }) => input },
  { name: "Cached", of: ({ cached }) => cached },
  { name: "Cache writes", of: ({ cache_write_5m, cache_write_1h }) => cache_write_5m + cache_write_1h },
  { name: "Output", of: ({ output }) => output },
  { name: "Reasoning", of: ({ reasoning }) => reasoning },
];
const REQUESTS_SERIES = 5;

/** What tables are by, as their headings say it; of models no requests are counted. */
const TABLES = {
  key: { title: "By key", heading: "Key" },
  team: { title: "By team", heading: "Team" },
  model: { title: "By model", heading: "Model" },
} as const;

/** What a key's panel has of its own: its requests by scope, where the range has them, and what stands below. */
type OwnUsage = { readonly requests: ScopedRequests | undefined; readonly below: Content };

/**
 * Requests and tokens of an hour, a day or 30 days: as charts, and as tables below them.
 *
 * @param path of the page that it is on
 */
export function usagePanel(seen: SeenUsage, path: string): Html {
  return panel("Usage", seen, path);
}

/** A key's, with what is in use of it. */
export function inUsePanel(seen: SeenUsage, path: string, own: OwnUsage): Html {
  return panel("What is in use", seen, path, own);
}

function panel(title: string, seen: SeenUsage, path: string, own?: OwnUsage): Html {
  const { range, total } = seen;
  return html`<section class="panel" id="usage" aria-labelledby="usage-title"><div class="head"><h2 id="usage-title">${title}</h2>${ranges(range, path)}</div>
${(total.requests ?? 0) + total.figures.calls === 0 ? nothing(range) : used(seen, own?.requests)}${own?.below}</section>`;
}

function ranges(shown: UsageRange, path: string): Html {
  return html`<nav aria-label="Time"><ul class="tabs">${USAGE_RANGES.map(
    ({ name, title }) =>
      html`<li><a href="${urlWithQuery(path, { usage: name })}#usage"${name === shown.name ? html` aria-current="true"` : ""}>${title}</a></li>`,
  )}</ul></nav>`;
}

function nothing({ title }: UsageRange): Html {
  return html`<p class="muted">${title}: no requests. They are counted as they are let through, and shown here some ten seconds later.</p>`;
}

function used({ range, pieces, total, tables, currency }: SeenUsage, scoped: ScopedRequests | undefined): Html {
  const kinds = KINDS.map((kind, series) => ({ ...kind, series })).filter(({ of }) => of(total.figures) > 0);
  const label = (from: number) => (range.name === "month" ? monthDay(from) : clock(from));
  const chart = { title: "", labelEvery: range.labelEvery };
  const requests =
    scoped?.chart ??
    columnChart({
      ...{ ...chart, title: "Requests", said: numeral(total.requests ?? 0) },
      summary: `Requests, ${range.title.toLowerCase()}, ${range.every}: ${numeral(total.requests ?? 0)}. Each time is in the table below`,
      columns: pieces.map(({ from, requests: count = 0 }) => ({
        label: label(from),
        pieces:
          count === 0
            ? []
            : [{ series: REQUESTS_SERIES, count, title: `${label(from)}: ${counted(count, "request")}` }],
      })),
    });
  const tokens = columnChart({
    ...{ ...chart, title: "Tokens", said: shortNumeral(tokensOf(total.figures)) },
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
  return html`<div class="charts two"><div>${requests}${scoped?.legend}</div>${
    kinds.length > 0 && html`<div>${tokens}${chartLegend("Kinds of tokens in the chart", kinds)}</div>`
  }</div>
${costText(total, currency)}${tables.map((one) => groupTable(one, currency))}
<details><summary>By time</summary>${table(
    "Usage by time",
    ["From", ...FIGURES.map(([heading]) => heading), ...costHeading(currency)],
    pieces
      .filter(({ requests: count, figures }) => (count ?? 0) + figures.calls > 0)
      .toReversed()
      .map((piece) => [label(piece.from), ...cellsOf(piece), ...costCell(piece, currency)]),
    "figures",
  )}${scoped?.table}</details>
<p class="muted small">Requests that were let through, and tokens as the models' answers reported them; no column is part of another. As of some ten seconds ago; times are UTC.${gapsText(total.figures)}${scoped?.note}</p>`;
}

const FIGURES: readonly (readonly [heading: string, of: (figures: TokenFigures) => number])[] = [
  ["Requests", () => 0],
  ["Answers", ({ calls }) => calls],
  ...KINDS.map(({ name, of }) => [name, of] as const),
  ["Tool calls", ({ tool_calls }) => tool_calls],
];

/** In the order of {@link FIGURES}. */
function cellsOf({ requests, figures }: Used): string[] {
  return FIGURES.map(([heading, of]) => shortNumeral(heading === "Requests" ? (requests ?? 0) : of(figures)));
}

function costHeading(currency: string | null): string[] {
  return currency === null ? [] : [`Cost in ${currency}`];
}

function costCell(row: Used, currency: string | null): string[] {
  return currency === null ? [] : [amountText(row)];
}

/** With two decimals: `keyplane get usage` has all six. */
function amountText({ cost, figures }: Used): string {
  const cents = (cost.trillionths + CENT / 2n) / CENT;
  const amount = cents === 0n && cost.trillionths > 0n ? "under 0.01" : amountOf(cents);
  if (isWholeCost(cost, figures)) return amount;
  return cost.trillionths === 0n ? "unknown" : `at least ${amount}`;
}

function amountOf(cents: bigint): string {
  return `${(cents / 100n).toLocaleString("en-US")}.${String(cents % 100n).padStart(2, "0")}`;
}

/** In trillionths of a currency's unit. */
const CENT = 10_000_000_000n;

function costText(total: Used, currency: string | null): Html | string {
  if (currency === null) return "";
  const { unpricedTokens, unpricedToolCalls } = total.cost;
  const parts = [
    ...(unpricedTokens > 0 ? [`${numeral(unpricedTokens)} tokens`] : []),
    ...(unpricedToolCalls > 0 ? [`${numeral(unpricedToolCalls)} calls of tools`] : []),
  ];
  return html`<p>Cost: <b>${amountText(total)} ${currency}</b>${parts.length > 0 && `; ${parts.join(" and ")} have no price`}</p>`;
}

function groupTable({ by, rows, isCut }: UsageTable, currency: string | null): Html | string {
  if (rows.length === 0) return "";
  const { title, heading } = TABLES[by === "key" || by === "team" ? by : "model"];
  const hasRequests = rows[0]?.requests !== undefined;
  const figures = FIGURES.filter(([name]) => hasRequests || name !== "Requests").map(([name]) => name);
  const columns: readonly Column[] = [[heading, "named"], ...figures, ...costHeading(currency)];
  const cells = rows.map((row) => [
    nameOf(by, row),
    ...cellsOf(row).slice(hasRequests ? 0 : 1),
    ...costCell(row, currency),
  ]);
  return html`<h3>${title}</h3>${table(`Usage ${title.toLowerCase()}`, columns, cells, "figures")}${
    isCut &&
    html`<p class="muted small">The ${rows.length} of most requests and answers: <code>keyplane get usage</code> has all.</p>`
  }`;
}

function nameOf(by: UsageTable["by"], { group, name }: UsageTable["rows"][number]): Content {
  if (by === "model") return html`<code>${group}</code>`;
  if (name === undefined) return html`<code>${group}</code>`;
  const path = by === "team" ? `/dashboard/team/${group}` : `/dashboard/keys/${group}`;
  return html`<a href="${path}">${refName(name)}</a>`;
}

function tokensOf(figures: TokenFigures): number {
  return KINDS.reduce((sum, { of }) => sum + of(figures), 0);
}

/** What of the answers the numbers lack. */
function gapsText({ cut, unreported, unread, doubtful }: TokenFigures): string {
  const gaps = (
    [
      [cut, "ended early, and count what was seen"],
      [unreported, "reported no usage"],
      [unread, "came in a coding that is not read"],
      [doubtful, "reported what cannot be"],
    ] as const
  ).flatMap(([count, what]) => (count === 0 ? [] : [`${numeral(count)} ${what}`]));
  return gaps.length === 0 ? "" : ` Of the answers ${gaps.join("; ")}.`;
}

function clock(at: number): string {
  return rfc3339Millis(at).slice(11, 16);
}

function monthDay(at: number): string {
  return rfc3339Millis(at).slice(5, 10);
}
