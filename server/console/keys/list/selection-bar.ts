import { type Html, html } from "../../../pages/html.ts";

/** What the viewer may do to keys of some team. */
export type SelectionRights = { readonly mayExport: boolean; readonly mayRevoke: boolean };

/** The form that the checkboxes of a list belong to, which stand outside of it: what is printed has no form. */
const FORM = "selection";

/** What is done with the selected keys of a page of the list: each an address, to which a person can go back. */
export function selectionBar(list: string, { mayExport, mayRevoke }: SelectionRights): Html {
  return html`<form id="${FORM}" class="panel" method="get" action="/dashboard/keys/export.csv" aria-label="Selected keys"><input type="hidden" name="list" value="${list}">
<p class="muted small" role="status" data-selected>Select keys to export or revoke them together.</p>
<p class="actions"><button type="button" data-select-all hidden>Select all on this page</button><button>Export CSV</button>${
    mayExport && html`<button formaction="/dashboard/keys/export.yaml">Export YAML</button>`
  }${mayRevoke && html`<button class="danger" formaction="/dashboard/keys/revoke">Revoke</button>`}</p></form>`;
}

/** Selects a key. */
export function selectionBox({ id, name }: { readonly id: string; readonly name: string }): Html {
  return html`<input type="checkbox" form="${FORM}" name="keyId" value="${id}" aria-label="Select ${name}">`;
}
