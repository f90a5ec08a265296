import { type Content, type Html, html } from "../console/html.ts";

/** A table that is one card for each row on a phone: its roles are written out, since the layout would take them away. */
export function rows(label: string, columns: readonly string[], cells: readonly (readonly Content[])[]): Html {
  return html`<table class="table reference" role="table" aria-label="${label}"><thead role="rowgroup"><tr role="row">${columns.map(
    (column) => html`<th role="columnheader" scope="col">${column}</th>`,
  )}</tr></thead><tbody role="rowgroup">${cells.map(
    (row) =>
      html`<tr role="row">${row.map((cell, i) => html`<td role="cell" data-label="${columns[i]}"><span>${cell}</span></td>`)}</tr>`,
  )}</tbody></table>`;
}
