import { type Content, type Html, html } from "./html.ts";

/**
 * Column with its title and the traits of its cells: `whole` does not break, `named` has the width for a name and
 * `word` for a long word, the digits of `number` are aligned, and `plain` is clear without the title, so that a card
 * leaves the title out.
 */
export type Column = string | readonly [title: string, ...traits: ("whole" | "named" | "word" | "number" | "plain")[]];

/**
 * Renders a table that becomes a card for each row on a phone. Names in a first column that is `named` are headings of
 * rows.
 *
 * @param style `dense` for long rows, `reference` for running text, `figures` for a name and many numbers
 */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
  style: "" | "dense" | "reference" | "figures" = "",
): Html {
  const starts = columns.map(startOfCell);
  // HTML lets rows and cells do without their end tags: 2 kB of a page of 50 keys.
  return html`<table class="table ${style}" aria-label="${label}"><thead><tr>${columns.map(heading)}<tbody>${rows.map(
    (cells) => html`<tr>${starts.map((start, i) => html`${start}${cells[i]}`)}`,
  )}</table>`;
}

function heading(column: Column): Html {
  const [title, ...traits] = typeof column === "string" ? [column] : column;
  const layout = traits.find((trait) => trait === "named" || trait === "word" || trait === "number");
  return html`<th scope="col"${layout && html` class="${layout}"`}>${title}</th>`;
}

/** Returns the opening tag of a column's cell. */
function startOfCell(column: Column, index: number): Html {
  const [title, ...traits] = typeof column === "string" ? [column] : column;
  if (index === 0 && traits.includes("named")) return html`<th scope="row">`;
  const layout = traits.find((trait) => trait === "whole" || trait === "number");
  return html`<td${!traits.includes("plain") && html` data-label="${title}"`}${layout && html` class="${layout}"`}>`;
}
