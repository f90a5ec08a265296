import { REQUEST_SCOPES, type RequestScope } from "../../../../domain/access/request-scope.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import { type Html, html } from "../../../pages/html.ts";
import { table } from "../../../pages/table.ts";
import { chartLegend, columnChart, numeral } from "../../column-chart.ts";
import type { UsageRange } from "../../usage/usage-ranges.ts";
import { type RequestBar, type Requests, sumOf, sumsOf } from "./request-bars.ts";

/** Requests of a key in an hour or a day by scope, as a chart and as a table. */
export type ScopedRequests = {
  readonly chart: Html;
  readonly legend: Html;
  readonly table: Html;
  /** Explanation of a scope in the chart; empty if none needs any. */
  readonly note: Html | string;
};

/**
 * Renders the requests by scope. undefined for a range that scopes are not counted over, and if there was no request.
 */
export function scopedRequests(requests: Requests, range: UsageRange): ScopedRequests | undefined {
  const bars = range.name === "month" ? [] : requests[range.name];
  const scopes = sumsOf(bars);
  if (scopes.size === 0) return undefined;
  const entries = [...scopes.keys()].map((scope) => ({ series: seriesOf(scope), name: html`<code>${scope}</code>` }));
  return {
    chart: chartOf(bars, range),
    legend: chartLegend("Scopes in the chart", entries),
    table: tableOf(bars, scopes),
    note: scopes.has("memory:*")
      ? html` <code>memory:*</code> is MCP without a tool: connecting, and asking what there is.`
      : "",
  };
}

function chartOf(bars: readonly RequestBar[], { title, every, labelEvery }: UsageRange): Html {
  return columnChart({
    ...{ title: "Requests", labelEvery, said: numeral(sumOf(bars)) },
    summary: `Requests, ${title.toLowerCase()}, ${every}: ${summary(bars)}`,
    columns: bars.map(({ from, counts }) => ({
      label: clock(from),
      pieces: [...counts].map(([scope, count]) => ({
        ...{ series: seriesOf(scope), count },
        title: `${clock(from)}: ${numeral(count)} by ${scope}`,
      })),
    })),
  });
}

/** Describes the chart in words, for people who do not see it. */
function summary(bars: readonly RequestBar[]): string {
  const sums = [...sumsOf(bars)].map(([scope, sum]) => `${numeral(sum)} by ${scope}`);
  return `${sums.join(", ")}. Each time is in the table below`;
}

function tableOf(bars: readonly RequestBar[], scopes: ReadonlyMap<RequestScope, number>): Html {
  const rows = bars
    .filter(({ sum }) => sum > 0)
    .toReversed()
    .map(({ from, counts }) => [clock(from), ...[...scopes.keys()].map((scope) => numeral(counts.get(scope) ?? 0))]);
  return table("Requests by scope", ["From", ...scopes.keys()], rows, "figures");
}

function seriesOf(scope: RequestScope): number {
  return REQUEST_SCOPES.indexOf(scope);
}

function clock(at: number): string {
  return rfc3339Millis(at).slice(11, 16);
}
