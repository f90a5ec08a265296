import { type Html, html } from "../pages/html.ts";

const WIDTH = 320;
const HEIGHT = 150;
/** Of the numbers beside the chart, and of the times below it. */
const LEFT = 42;
const FOOT = 22;
const TOP = 10;
const GAP = 2;
/** What a label takes: the last one has to end within the chart. */
const LABEL = 34;
/** Of the lines across the chart. */
const TICKS = 2;

/** A column: what stands in it, from below, and what it says to those who point at it. */
export type ChartColumn = {
  /** Below it, where there is room for it. */
  readonly label: string;
  readonly pieces: readonly { readonly series: number; readonly count: number; readonly title: string }[];
};

export type ColumnChart = {
  readonly title: string;
  /** Beside the title: what it comes to. */
  readonly said: string;
  /** In words, for people who do not see it. */
  readonly summary: string;
  readonly columns: readonly ChartColumn[];
  /** Every so manyth column has its label. */
  readonly labelEvery: number;
};

/** Columns of pieces over time, drawn by the server: with attributes alone, as pages have no styles within them. */
export function columnChart({ title, said, summary, columns, labelEvery }: ColumnChart): Html {
  const max = niceMax(Math.max(...columns.map(({ pieces }) => pieces.reduce((sum, { count }) => sum + count, 0))));
  const width = (WIDTH - LEFT) / columns.length;
  const y = (count: number) => TOP + (HEIGHT - TOP) * (1 - count / max);
  const lines = Array.from({ length: TICKS + 1 }, (_, i) => (max * i) / TICKS);
  return html`<figure><figcaption><strong>${title}</strong> <span>${said}</span></figcaption>
<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT + FOOT}" role="img" aria-label="${summary}">
${lines.map((count) => html`<line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${y(count)}" y2="${y(count)}"/><text x="${LEFT - 5}" y="${y(count) + 4}" text-anchor="end">${shortNumeral(count)}</text>`)}
${columns.map((column, i) => drawColumn(column, { x: round(LEFT + i * width + GAP / 2), width: round(width - GAP), y }))}
${columns.map(({ label }, i) => i % labelEvery === 0 && LEFT + i * width + LABEL <= WIDTH && html`<text x="${round(LEFT + i * width)}" y="${HEIGHT + FOOT - 6}">${label}</text>`)}
</svg></figure>`;
}

/** What the colours of a chart mean. */
export function chartLegend(
  label: string,
  entries: readonly { readonly series: number; readonly name: Html | string }[],
) {
  return html`<ul class="legend" aria-label="${label}">${entries.map(
    ({ series, name }) =>
      html`<li><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="series-${series}" width="10" height="10" rx="2"/></svg>${name}</li>`,
  )}</ul>`;
}

function drawColumn(
  { pieces }: ChartColumn,
  at: { readonly x: number; readonly width: number; y(count: number): number },
): Html[] {
  let below = 0;
  return pieces.map(({ series, count, title }) => {
    const top = at.y(below + count);
    const height = at.y(below) - top;
    below += count;
    return html`<rect class="series-${series}" x="${at.x}" y="${round(top)}" width="${at.width}" height="${round(height)}"><title>${title}</title></rect>`;
  });
}

/** The least of 2, 4, 6, 8, 10, 20, 40 and so on that is no smaller: half of it is a whole number. */
function niceMax(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(max, 1)));
  const nice = [1, 2, 4, 6, 8, 10].map((factor) => factor * power).find((value) => value >= max && value >= 2);
  return nice ?? 2;
}

const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** A number in three figures or so, as 12.3M. */
export function shortNumeral(count: number): string {
  return SHORT.format(count);
}

/** A number in full, as 12,345,678. */
export function numeral(count: number): string {
  return count.toLocaleString("en-US");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
