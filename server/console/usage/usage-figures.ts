import type { TokenFigures } from "../../../domain/usage/token-count.ts";
import { isWholeCost } from "../../../domain/usage/usage-cost.ts";
import { type Html, html } from "../../pages/html.ts";
import { numeral, shortNumeral } from "../column-chart.ts";
import type { Used } from "./see-usage.ts";

/** Kinds of tokens in a chart. None is part of another. */
export const TOKEN_SERIES: readonly { readonly name: string; of(figures: TokenFigures): number }[] = [
  { name: "Input", of: ({ input }) => input },
  { name: "Cached", of: ({ cached }) => cached },
  { name: "Cache writes", of: cacheWritesOf },
  { name: "Output", of: ({ output }) => output },
  { name: "Reasoning", of: ({ reasoning }) => reasoning },
];

/** Columns of a table of usage, each with its heading and the text of its cells. */
export type FigureColumns = readonly (readonly [heading: string, shown: (used: Used) => string])[];

/**
 * Returns the columns for a table of usage.
 *
 * @param hasRequests true if requests are counted for what the page shows
 * @param figures figures of all that the table shows: what was not used has no column
 * @param currency null if nothing has a price
 */
export function figureColumns(
  hasRequests: boolean,
  figures: readonly TokenFigures[],
  currency: string | null,
): FigureColumns {
  return [
    ...(hasRequests ? [REQUESTS] : []),
    ...ANSWERED,
    ...SELDOM.filter(({ kind }) => figures.some((one) => one[kind] > 0)).map(
      ({ kind, heading }): FigureColumns[number] => [heading, (row) => shortNumeral(row.figures[kind])],
    ),
    ...(currency === null ? [] : [costColumn(currency)]),
  ];
}

const REQUESTS: FigureColumns[number] = ["Requests", ({ requests = 0 }) => shortNumeral(requests)];
const ANSWERED: FigureColumns = [
  ["Answers", ({ figures }) => shortNumeral(figures.calls)],
  ["Total", ({ figures }) => shortNumeral(allTokensOf(figures))],
  ["Input", ({ figures }) => shortNumeral(inputOf(figures))],
  ["Output", ({ figures }) => shortNumeral(outputOf(figures))],
];
/** Kinds that few calls use. */
const SELDOM = [
  { kind: "tool_calls", heading: "Tool calls" },
  { kind: "images", heading: "Images" },
  { kind: "seconds", heading: "Seconds" },
  { kind: "characters", heading: "Characters" },
] as const;

function cacheWritesOf({ cache_write_5m, cache_write_1h }: TokenFigures): number {
  return cache_write_5m + cache_write_1h;
}

function inputOf(figures: TokenFigures): number {
  return figures.input + figures.cached + cacheWritesOf(figures);
}

function outputOf({ output, reasoning }: TokenFigures): number {
  return output + reasoning;
}

/** Names the parts of a sum that are of special kinds. */
function kindsText(kinds: readonly (readonly [count: number, what: string])[]): string {
  return kinds
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${shortNumeral(count)} ${what}`)
    .join(", ");
}

/** Shows the tokens of the whole range, input and output with their kinds, and their cost if there is a price list. */
export function usageTotals(total: Used, currency: string | null): Html {
  const { figures } = total;
  const { cached, reasoning } = figures;
  const inputKinds = kindsText([
    [cached, "cached"],
    [cacheWritesOf(figures), "written to a cache"],
  ]);
  const facts = [
    ["Total tokens", numeral(allTokensOf(figures)), ""],
    ["Input", numeral(inputOf(figures)), inputKinds],
    ["Output", numeral(outputOf(figures)), kindsText([[reasoning, "of reasoning"]])],
    ...(currency === null ? [] : [["Cost", `${amountText(total)} ${currency}`, ""]]),
  ];
  return html`<dl class="strip">${facts.map(
    ([name, value, kinds]) =>
      html`<div><dt>${name}</dt><dd><b>${value}</b>${kinds && html`<small>${kinds}</small>`}</dd></div>`,
  )}</dl>`;
}

function costColumn(currency: string): FigureColumns[number] {
  return [`Cost in ${currency}`, amountText];
}

/** Formats a cost with two decimals, a cost that is not all of it rounded down. `keyplane get usage` has all six. */
function amountText({ cost, figures }: Used): string {
  const isWhole = isWholeCost(cost, figures);
  if (!isWhole && cost.trillionths === 0n) return "unknown";
  const cents = (cost.trillionths + (isWhole ? CENT / 2n : 0n)) / CENT;
  const amount = cents === 0n && cost.trillionths > 0n ? "under 0.01" : amountOf(cents);
  if (isWhole) return amount;
  return cents === 0n ? "over 0" : `at least ${amount}`;
}

function amountOf(cents: bigint): string {
  return `${(cents / 100n).toLocaleString("en-US")}.${String(cents % 100n).padStart(2, "0")}`;
}

/** Hundredth of a currency's unit, in trillionths of the unit. */
const CENT = 10_000_000_000n;

/** Names the usage without a price. Empty if all of it has a price, or if there is no price list. */
export function unpricedText(total: Used, currency: string | null): Html | string {
  if (currency === null) return "";
  const { unpricedTokens, unpricedToolCalls, unpricedUnits } = total.cost;
  const parts = [
    ...(unpricedTokens > 0 ? [`${numeral(unpricedTokens)} tokens`] : []),
    ...(unpricedToolCalls > 0 ? [`${numeral(unpricedToolCalls)} calls of tools`] : []),
    ...(unpricedUnits > 0 ? [`${numeral(unpricedUnits)} images, seconds or characters`] : []),
  ];
  return parts.length === 0 ? "" : html`<p>No price is known of ${parts.join(" and ")}.</p>`;
}

export function allTokensOf(figures: TokenFigures): number {
  return TOKEN_SERIES.reduce((sum, { of }) => sum + of(figures), 0);
}

/** Names the answers whose usage the numbers lack or do not fully count. */
export function gapsText({ cut, unreported, unread, doubtful }: TokenFigures): string {
  const gaps = (
    [
      [cut, "ended early, and count what was seen"],
      [unreported, "reported no usage"],
      [unread, "came in a coding or media type that is not read"],
      [doubtful, "reported what cannot be"],
    ] as const
  ).flatMap(([count, what]) => (count === 0 ? [] : [`${numeral(count)} ${what}`]));
  return gaps.length === 0 ? "" : ` Of the answers ${gaps.join("; ")}.`;
}
