import { type Html, html } from "../../../pages/html.ts";
import { numeral } from "../../column-chart.ts";
import { MOST_EXPORTED_KEYS } from "../selected/export-found.ts";
import { type KeyListFilters, listUrl } from "./list-query.ts";

/** Where all keys are exported that a list's filters find, as a line below its pages. */
export function exportFoot(query: KeyListFilters): Html {
  const file = listUrl({ ...query, after: undefined, before: undefined }, "/dashboard/keys/found.csv");
  return html`<div class="foot"><p class="muted small">The export has what these filters find, not this page alone: at most ${numeral(MOST_EXPORTED_KEYS)} keys.</p><a class="button" href="${file}">Export all as CSV</a></div>`;
}
