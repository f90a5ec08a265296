import { type Content, type Html, html } from "./html.ts";

/**
 * A column by its title, and how its cells are laid out: `whole` breaks nowhere, `named` has room for a name, and the
 * digits of `number` stand below each other.
 */
export type Column = string | readonly [title: string, layout: "whole" | "named" | "number"];

/**
 * A table that is one card for each row on a phone: its roles are written out, since the layout would take them away.
 *
 * @param style `dense` for long rows, `reference` for running text, `figures` for a name and many numbers
 */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
  style: "" | "dense" | "reference" | "figures" = "",
): Html {
  const laidOut = columns.map((column) => (typeof column === "string" ? ([column, ""] as const) : column));
  return html`<table class="table ${style}" role="table" aria-label="${label}"><thead role="rowgroup"><tr role="row">${laidOut.map(
    ([title, layout]) =>
      html`<th role="columnheader" scope="col"${layout === "number" && html` class="number"`}>${title}</th>`,
  )}</tr></thead><tbody role="rowgroup">${rows.map(
    (cells) =>
      html`<tr role="row">${laidOut.map(
        ([title, layout], i) =>
          html`<td role="cell" data-label="${title}"${layout && html` class="${layout}"`}><span>${cells[i]}</span></td>`,
      )}</tr>`,
  )}</tbody></table>`;
}
