import { type Html, html } from "../pages/html.ts";
import { turnsDirection } from "../pages/isolated-text.ts";

/** Behind a mark between parts; not within `://` or `::`, nor before a port, the rest of a number, or a space. */
const SEAM = /(?<=[:/.@])(?![:/.@\d\s])/;

/**
 * A URL, a URN or another name of many parts, which a narrow column breaks between its parts and not within a word. What
 * could turn the direction of text stays whole: its parts, each by itself, could be shown in another order.
 */
export function inParts(text: string): Html {
  const parts = turnsDirection(text) ? [text] : text.split(SEAM);
  return html`${parts.map((part, i) => (i === 0 ? part : html`<wbr>${part}`))}`;
}
