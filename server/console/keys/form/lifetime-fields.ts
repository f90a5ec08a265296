import { type Html, html } from "../../../pages/html.ts";
import { selectOf } from "./field-kinds.ts";
import type { KeyFields } from "./key-fields.ts";
import { type FormErrors, labelled, memberFields } from "./key-form.ts";
import { LIFETIMES } from "./lifetimes.ts";
import { END } from "./member-fields.ts";

const OPTIONS = LIFETIMES.map((one) => (one.value === "date" ? { ...one, data: html`data-date` } : one));

/** Renders the choice of a new key's lifetime. The date appears once a date of the person's own is chosen. */
export function lifetimeFields(fields: KeyFields, errors: FormErrors): Html {
  const select = (attributes: Html) => selectOf(attributes, OPTIONS, fields.lifetime);
  return html`${labelled("lifetime", errors, select, "It can be changed later. A policy may end the key earlier.")}<div class="for-date">${memberFields([{ ...END, hint: "In UTC." }], fields, errors)}</div>`;
}
