import { DAY_MS } from "../../../../domain/duration.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { KeyJson, VersionJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { absolute } from "../../times.ts";
import { endOfVersion, toneOfVersion } from "../key-words.ts";

const WIDTH = 640;
const LABEL = 44;
const ROW = 26;
const TOP = 28;
const CORNER = 4;
/** Height of the label below the line that marks the present. */
const FOOT = 24;

const WEEK_MS = 7 * DAY_MS;

type Span = { readonly version: VersionJson; readonly from: number; readonly to: number };

/** Draws the versions of a key in time: where they overlap, and where they end. The table beside it says the same. */
export function timeline(key: KeyJson, now: number): Html {
  const spans = key.versions.toReversed().map((version) => spanOf(version, key));
  const start = Math.min(now, ...spans.map(({ from }) => from));
  // An end that is years away would leave no space for the past.
  const shown = Math.max(now - start, WEEK_MS);
  const ends = spans.map(({ to }) => to).filter(Number.isFinite);
  const end = Math.min(Math.max(now + shown / 5, ...ends), now + shown);
  const x = (at: number) => Math.round(LABEL + ((Math.min(at, end) - start) / (end - start)) * (WIDTH - LABEL));
  const height = TOP + spans.length * ROW;
  return html`<svg class="timeline" viewBox="0 0 ${WIDTH} ${height + FOOT}" role="img" aria-label="Versions in time, as the table says">
<line class="axis" x1="${LABEL}" x2="${WIDTH}" y1="${TOP - 5}" y2="${TOP - 5}"/>
<text x="${LABEL}" y="16">${day(start)}</text><text x="${WIDTH}" y="16" text-anchor="end">${day(end)}</text>
${spans.map((span, i) => bar(span, { x, y: TOP + i * ROW, end }))}
<line class="now" x1="${x(now)}" x2="${x(now)}" y1="${TOP - 5}" y2="${height}"/><text x="${x(now)}" y="${height + 17}" text-anchor="middle">now</text>
</svg>`;
}

function bar(
  { version, from, to }: Span,
  at: { x(at: number): number; readonly y: number; readonly end: number },
): Html {
  // A version that goes on beyond the drawing has no edge there.
  const [left, right] = [at.x(from), to > at.end ? WIDTH + 2 * CORNER : at.x(to)];
  const until = Number.isFinite(to) ? `until ${absolute(rfc3339Millis(to))}` : "without an end";
  return html`<text x="0" y="${at.y + 15}">v${version.number}</text><rect class="span ${toneOfVersion(version)}" x="${left}" y="${at.y}" width="${Math.max(right - left, 3)}" height="${ROW - 8}" rx="${CORNER}"><title>Version ${version.number}, ${version.state}, ${until}</title></rect>`;
}

function spanOf(version: VersionJson, key: KeyJson): Span {
  const end = endOfVersion(version, key);
  return {
    version,
    from: Date.parse(version.activatedAt ?? version.mintedAt),
    to: end === null ? Number.POSITIVE_INFINITY : Date.parse(end),
  };
}

function day(at: number): string {
  return rfc3339Millis(at).slice(0, 10);
}
