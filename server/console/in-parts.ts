import { type Html, html } from "../pages/html.ts";
import { turnsDirection } from "../pages/isolated-text.ts";

/**
 * Positions behind a mark between parts: not within `://` or `::`, and not before a port, the rest of a number, or a
 * space.
 */
const SEAM = /(?<=[:/.@])(?![:/.@\d\s])/;

/**
 * Breaks a URL, a URN or another name of many parts between its parts in a narrow column, not within a word. Leaves a
 * text whole that could turn the direction of text: its parts, each isolated, could be shown in another order.
 */
export function inParts(text: string): Html {
  const parts = turnsDirection(text) ? [text] : text.split(SEAM);
  return html`${parts.map((part, i) => (i === 0 ? part : html`<wbr>${part}`))}`;
}
