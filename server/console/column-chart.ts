import { type Html, html } from "../pages/html.ts";

const WIDTH = 320;
const HEIGHT = 150;
/** Width of the numbers beside the chart and height of the times below it. */
const LEFT = 42;
const FOOT = 22;
const TOP = 10;
const GAP = 2;
/** Width of a label: the last label has to end within the chart. */
const LABEL = 34;
/** Number of intervals between the lines across the chart. */
const TICKS = 2;

/** Column of a chart: its pieces are stacked from below, each with a title that appears under the pointer. */
export type ChartColumn = {
  /** Text below the column, shown if there is space for it. */
  readonly label: string;
  readonly pieces: readonly { readonly series: number; readonly count: number; readonly title: string }[];
};

export type ColumnChart = {
  readonly title: string;
  /** Text beside the title: what the chart adds up to. */
  readonly said: string;
  /** Text for people who do not see the chart. */
  readonly summary: string;
  readonly columns: readonly ChartColumn[];
  /** Interval of labels: every `labelEvery`th column has its label. */
  readonly labelEvery: number;
};

/** Draws stacked columns over time on the server, with attributes alone, as pages have no inline styles. */
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

/** Renders the legend of a chart: the name of each series beside its colour. */
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

/** Returns the least of 2, 4, 6, 8, 10, 20, 40 and so on that is not below `max`. Half of it is a whole number. */
function niceMax(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(max, 1)));
  const nice = [1, 2, 4, 6, 8, 10].map((factor) => factor * power).find((value) => value >= max && value >= 2);
  return nice ?? 2;
}

const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** Formats a number in about three figures, such as 12.3M. */
export function shortNumeral(count: number): string {
  return SHORT.format(count);
}

/** Formats a number in full, such as 12,345,678. */
export function numeral(count: number): string {
  return count.toLocaleString("en-US");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
