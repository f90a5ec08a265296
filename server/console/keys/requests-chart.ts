import { REQUEST_SCOPES, type RequestScope } from "../../../domain/access/request-scope.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { type Html, html } from "../../pages/html.ts";
import { chartLegend, columnChart, numeral } from "../column-chart.ts";
import { type RequestBar, type Requests, sumOf, sumsOf } from "./request-bars.ts";

/** A key's requests of the last hour and day by scope: as charts, and as a table of the numbers. */
export function requestsContent({ hour, day }: Requests): Html {
  const scopes = sumsOf([...day, ...hour]);
  if (scopes.size === 0) {
    return html`<p class="muted">None within the last day. They are counted as they are let through, and shown here some ten seconds later.</p>`;
  }
  const entries = [...scopes.keys()].map((scope) => ({ series: seriesOf(scope), name: html`<code>${scope}</code>` }));
  return html`<div class="charts">${figure("Last hour", "every 5 minutes", hour, 3)}${figure("Last day", "every hour", day, 6)}</div>
${chartLegend("Scopes in the charts", entries)}
<details><summary>As a table</summary>${table("Requests of the last hour", hour, scopes)}${table("Requests of the last day", day, scopes)}</details>
<p class="muted small">Requests that were let through; refused ones are not counted. Times are UTC.${
    scopes.has("memory:*") && html` <code>memory:*</code> is MCP without a tool: connecting, and asking what there is.`
  }</p>`;
}

function figure(title: string, every: string, bars: readonly RequestBar[], labelEvery: number): Html {
  return columnChart({
    ...{ title, labelEvery, said: `${numeral(sumOf(bars))} requests` },
    summary: `${title}, ${every}: ${summary(bars)}`,
    columns: bars.map(({ from, counts }) => ({
      label: clock(from),
      pieces: [...counts].map(([scope, count]) => ({
        ...{ series: seriesOf(scope), count },
        title: `${clock(from)}: ${numeral(count)} by ${scope}`,
      })),
    })),
  });
}

/** The chart in words, for people who do not see it. */
function summary(bars: readonly RequestBar[]): string {
  const sums = [...sumsOf(bars)].map(([scope, sum]) => `${numeral(sum)} by ${scope}`);
  return sums.length === 0 ? "no requests" : `${sums.join(", ")}. Each time is in the table below`;
}

function table(title: string, bars: readonly RequestBar[], scopes: ReadonlyMap<RequestScope, number>): Html {
  const columns = ["From", ...scopes.keys()];
  const rows = bars.filter(({ sum }) => sum > 0).toReversed();
  if (rows.length === 0) return html`<p class="muted">${title}: none.</p>`;
  return html`<table class="table" role="table"><caption>${title}</caption><thead role="rowgroup"><tr role="row">${columns.map(
    (name) => html`<th role="columnheader" scope="col">${name}</th>`,
  )}</tr></thead><tbody role="rowgroup">${rows.map(
    ({ from, counts }) =>
      html`<tr role="row"><td role="cell" data-label="From">${clock(from)}</td>${[...scopes.keys()].map(
        (scope) => html`<td role="cell" data-label="${scope}">${numeral(counts.get(scope) ?? 0)}</td>`,
      )}</tr>`,
  )}</tbody></table>`;
}

function seriesOf(scope: RequestScope): number {
  return REQUEST_SCOPES.indexOf(scope);
}

function clock(at: number): string {
  return rfc3339Millis(at).slice(11, 16);
}
