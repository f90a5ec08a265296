import { type Html, html } from "../../../pages/html.ts";

/** Actions that the viewer may take on keys of some team. */
export type SelectionRights = { readonly mayExport: boolean; readonly mayRevoke: boolean };

/**
 * Renders the form around a page of the list, whose checkboxes are its fields, and above it the actions on the selected
 * keys. Each action is a URL, to which a person can go back.
 *
 * @param list URL of the list
 */
export function selectionForm(list: string, { mayExport, mayRevoke }: SelectionRights, keys: Html): Html {
  return html`<form id="selection" class="stack" method="get" action="/dashboard/keys/export.csv"><input type="hidden" name="list" value="${list}">
<div class="panel" role="group" aria-label="Selected keys"><p class="muted small" role="status" data-selected>What is done with the selected keys</p>
<p class="actions"><button type="button" data-select-all hidden>Select all on this page</button><button>Export CSV</button>${
    mayExport && html`<button formaction="/dashboard/keys/export.yaml">Export YAML</button>`
  }${mayRevoke && html`<button class="danger" formaction="/dashboard/keys/revoke">Revoke</button>`}</p></div>
${keys}</form>`;
}

/** Renders the checkbox that selects a key. */
export function selectionBox({ id, name }: { readonly id: string; readonly name: string }): Html {
  return html`<input type="checkbox" name="keyId" value="${id}" aria-label="Select ${name}">`;
}
