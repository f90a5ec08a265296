import { type Html, html } from "../pages/html.ts";

/** A description's text, with what stands between backticks as code, and an empty line as the end of a paragraph. */
export function prose(text: string): Html {
  return html`${text.split("\n\n").map((paragraph) => html`<p>${inlineProse(paragraph)}</p>`)}`;
}

/** The same within a line. */
export function inlineProse(text: string): Html {
  return html`${text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
