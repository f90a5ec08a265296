import { flag, type Html, html } from "../../../pages/html.ts";
import { FORM_FIELDS } from "./form-fields.ts";
import type { KeyFields } from "./key-fields.ts";
import { type Choices, chosenField, type FormErrors, labelled, memberFields, withChosen } from "./key-form.ts";
import { GATEWAY } from "./member-fields.ts";

/** Libraries and gateways that a key can be bound to by reference. */
export type Bindings = { readonly libraries: Choices; readonly gateways: Choices };

export function libraryFields(fields: KeyFields, { libraries }: Bindings, errors: FormErrors): Html {
  const restricted = fields.libraryAccess === "Restricted";
  return html`${labelled(
    "libraryAccess",
    errors,
    (
      attributes,
    ) => html`<select ${attributes}><option value="All" ${flag("selected", !restricted)}>All of the team's libraries</option>
<option value="Restricted" data-restricted ${flag("selected", restricted)}>Only those below</option></select>`,
  )}${allowedLibraries(fields, libraries, errors)}${chosenField(
    "defaultLibrary",
    fields.defaultLibrary,
    { none: "None: the team's default", ...libraries },
    errors,
    "What an MCP client writes to where it names no library.",
  )}`;
}

/** Renders a checkbox for each library that is offered, and a text field for the names of others if there are more. */
function allowedLibraries({ libraries }: KeyFields, { offered, isMore }: Choices, errors: FormErrors): Html {
  const fault = errors.fields.get("libraries");
  const choices = withChosen(offered, libraries).map(
    ({ value, title }, i) =>
      html`<div class="choice"><input type="checkbox" id="library-${i}" name="libraries" value="${value}" ${flag("checked", libraries.includes(value))}><label for="library-${i}">${title}</label></div>`,
  );
  return html`<fieldset class="for-restricted" id="libraries"><legend>${FORM_FIELDS.libraries.label}</legend>${
    choices.length === 0 ? html`<p class="hint">There is no library yet: the key will reach none.</p>` : choices
  }${
    isMore &&
    html`<div class="field"><label for="otherLibraries">Other libraries</label><input id="otherLibraries" name="otherLibraries" autocomplete="off" spellcheck="false" aria-describedby="otherLibraries-hint"><p class="hint" id="otherLibraries-hint">By their names, with commas between them.</p></div>`
  }${fault && html`<p class="error">${fault}</p>`}</fieldset>`;
}

export function gatewayFields(fields: KeyFields, { gateways }: Bindings, errors: FormErrors): Html {
  return html`${chosenField(
    "gateway",
    fields.gateway,
    { none: "Any of the team's gateways", ...gateways },
    errors,
    "Bound to one, the key is refused by every other.",
  )}${memberFields(GATEWAY, fields, errors)}`;
}
