import { type Html, html } from "../../../pages/html.ts";
import { numeral } from "../../column-chart.ts";
import { MOST_EXPORTED_KEYS } from "../selected/export-found.ts";
import { type KeyListFilters, listUrl } from "./list-query.ts";

/** Renders the line below a list that exports all keys its filters find. */
export function exportFoot(query: KeyListFilters): Html {
  const file = listUrl({ ...query, after: undefined, before: undefined }, "/dashboard/keys/found.csv");
  return html`<div class="foot"><p class="muted small">The export has all that these filters find, ${numeral(MOST_EXPORTED_KEYS)} keys at most.</p><a class="button" href="${file}">Export all as CSV</a></div>`;
}
