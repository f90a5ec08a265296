import { type Html, html } from "./html.ts";

/** Icons beside words: they say nothing that the words do not. */
export const ICONS = {
  key: icon(html`<circle cx="7.5" cy="15.5" r="4.5"/><path d="m10.7 12.3 9.3-9.3"/><path d="m16 7 3 3"/>`),
  library: icon(html`<path d="M5 4h4v16H5z"/><path d="M9 4h4v16H9z"/><path d="m14.5 4.6 3.9-.9 3.2 15.4-3.9.9z"/>`),
  gateway: icon(html`<path d="M4 7h11"/><path d="m12 4 3 3-3 3"/><path d="M20 17H9"/><path d="m12 14-3 3 3 3"/>`),
  team: icon(
    html`<circle cx="9" cy="8" r="3.5"/><path d="M2.5 20c.6-3.6 3-5.5 6.5-5.5s5.9 1.9 6.5 5.5"/><path d="M16 5.2a3.3 3.3 0 0 1 0 5.6"/><path d="M18 14.9c2 .8 3.2 2.5 3.5 5.1"/>`,
  ),
  webhook: icon(html`<path d="M4 12h10"/><path d="m11 8 4 4-4 4"/><circle cx="18.5" cy="12" r="2.5"/>`),
  usage: icon(html`<path d="M4 20V12"/><path d="M10 20V5"/><path d="M16 20v-9"/><path d="M3 20h18"/>`),
  refusal: icon(html`<circle cx="12" cy="12" r="8.5"/><path d="m6 6 12 12"/>`),
  now: icon(html`<path d="M3 12h4l3-8 4 16 3-8h4"/>`),
  log: icon(html`<path d="M6 3h9l4 4v14H6z"/><path d="M9.5 11h6"/><path d="M9.5 15h6"/>`),
} as const;

function icon(shape: Html): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${shape}</svg>`;
}
