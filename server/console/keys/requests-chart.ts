import { REQUEST_SCOPES, type RequestScope } from "../../../domain/access/request-scope.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { type Html, html } from "../../pages/html.ts";
import { type RequestBar, type Requests, sumOf, sumsOf } from "./request-bars.ts";

const WIDTH = 320;
const HEIGHT = 150;
/** Of the numbers beside the chart, and of the times below it. */
const LEFT = 36;
const FOOT = 22;
const TOP = 10;
const GAP = 2;
/** Of the lines across the chart. */
const TICKS = 2;

/** A key's requests of the last hour and day by scope: as charts, and as a table of the numbers. */
export function requestsContent({ hour, day }: Requests): Html {
  const scopes = sumsOf([...day, ...hour]);
  if (scopes.size === 0) {
    return html`<p class="muted">None within the last day. They are counted as they are let through, and shown here some ten seconds later.</p>`;
  }
  return html`<div class="charts">${figure("Last hour", "every 5 minutes", hour, 3)}${figure("Last day", "every hour", day, 6)}</div>
<ul class="legend" aria-label="Scopes in the charts">${[...scopes.keys()].map(
    (scope) =>
      html`<li><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="${seriesOf(scope)}" width="10" height="10" rx="2"/></svg><code>${scope}</code></li>`,
  )}</ul>
<details><summary>As a table</summary>${table("Requests of the last hour", hour, scopes)}${table("Requests of the last day", day, scopes)}</details>
<p class="muted small">Requests that were let through; refused ones are not counted. Times are UTC.${
    scopes.has("memory:*") && html` <code>memory:*</code> is MCP without a tool: connecting, and asking what there is.`
  }</p>`;
}

function figure(title: string, every: string, bars: readonly RequestBar[], labelEvery: number): Html {
  const max = niceMax(Math.max(...bars.map(({ sum }) => sum)));
  const width = (WIDTH - LEFT) / bars.length;
  const y = (count: number) => TOP + (HEIGHT - TOP) * (1 - count / max);
  const lines = Array.from({ length: TICKS + 1 }, (_, i) => (max * i) / TICKS);
  return html`<figure><figcaption><strong>${title}</strong> <span>${numeral(sumOf(bars))} requests</span></figcaption>
<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT + FOOT}" role="img" aria-label="${title}, ${every}: ${summary(bars)}">
${lines.map((count) => html`<line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${y(count)}" y2="${y(count)}"/><text x="${LEFT - 5}" y="${y(count) + 4}" text-anchor="end">${short(count)}</text>`)}
${bars.map((bar, i) => column(bar, { x: round(LEFT + i * width + GAP / 2), width: round(width - GAP), y }))}
${bars.map(({ from }, i) => i % labelEvery === 0 && html`<text x="${round(LEFT + i * width)}" y="${HEIGHT + FOOT - 6}">${clock(from)}</text>`)}
</svg></figure>`;
}

function column(
  { from, counts }: RequestBar,
  at: { readonly x: number; readonly width: number; y(count: number): number },
): Html[] {
  let below = 0;
  return [...counts].map(([scope, count]) => {
    const top = at.y(below + count);
    const height = at.y(below) - top;
    below += count;
    return html`<rect class="${seriesOf(scope)}" x="${at.x}" y="${round(top)}" width="${at.width}" height="${round(height)}"><title>${clock(from)}: ${numeral(count)} by ${scope}</title></rect>`;
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

function seriesOf(scope: RequestScope): string {
  return `series-${REQUEST_SCOPES.indexOf(scope)}`;
}

/** The least of 2, 4, 6, 8, 10, 20, 40 and so on that is no smaller: half of it is a whole number. */
function niceMax(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(max, 1)));
  const nice = [1, 2, 4, 6, 8, 10].map((factor) => factor * power).find((value) => value >= max && value >= 2);
  return nice ?? 2;
}

function clock(at: number): string {
  return rfc3339Millis(at).slice(11, 16);
}

function numeral(count: number): string {
  return count.toLocaleString("en-US");
}

const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
function short(count: number): string {
  return SHORT.format(count);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
