import { type Html, html } from "../pages/html.ts";

/** Renders a description's text. Backticks mark code, and an empty line ends a paragraph. */
export function prose(text: string): Html {
  return html`${text.split("\n\n").map((paragraph) => html`<p>${inlineProse(paragraph)}</p>`)}`;
}

/** Renders a text as {@link prose} does, within a line. */
export function inlineProse(text: string): Html {
  return html`${text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
