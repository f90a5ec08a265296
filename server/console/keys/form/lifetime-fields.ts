import { flag, type Html, html } from "../../../pages/html.ts";
import type { KeyFields } from "./key-fields.ts";
import { expiresField, type FormErrors, labelled } from "./key-form.ts";
import { LIFETIMES } from "./lifetimes.ts";

/** Renders the choice of a new key's lifetime. The date appears once a date of the person's own is chosen. */
export function lifetimeFields(fields: KeyFields, errors: FormErrors): Html {
  return html`${labelled(
    "lifetime",
    errors,
    (attributes) =>
      html`<select ${attributes}>${LIFETIMES.map(
        ({ value, words }) =>
          html`<option value="${value}"${value === "date" && html` data-date`} ${flag("selected", value === fields.lifetime)}>${words}</option>`,
      )}</select>`,
    "It can be changed later.",
  )}<div class="for-date">${expiresField(fields, errors, "In UTC.")}</div>`;
}
