import { flag, type Html, html } from "../../../pages/html.ts";
import type { KeyFields } from "./key-fields.ts";
import { type FormErrors, memberFields } from "./key-form.ts";
import { LIMITS, RATE_LIMIT } from "./member-fields.ts";

/** Renders a key's limits, folded in unless one has a value or a fault, as most keys have none. */
export function limitDetails(fields: KeyFields, errors: FormErrors): Html {
  const rows = [...LIMITS, ...RATE_LIMIT];
  // A choice always has a value.
  const isOpen = rows.some(({ name, show }) => (show() === "" && fields[name] !== "") || errors.fields.has(name));
  const shown = memberFields(rows, fields, errors).map((field, i) => html`${i > 0 && "\n"}${field}`);
  return html`<details ${flag("open", isOpen)}><summary>Limits</summary><div class="stack">${shown}</div></details>`;
}
