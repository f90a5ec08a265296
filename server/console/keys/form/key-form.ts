import { type Preset, SCOPE_TEXTS, SCOPES } from "../../../../domain/access/scopes.ts";
import { type Content, flag, type Html, html } from "../../../pages/html.ts";
import { LINE, type Option, selectOf } from "./field-kinds.ts";
import { FORM_FIELDS, type FormFieldName } from "./form-fields.ts";
import { type KeyFields, productOfScope, productsOf } from "./key-fields.ts";
import type { MemberField } from "./member-fields.ts";

/** Options of a choice, each with the value that a form sends for it. */
export type Choices = {
  readonly offered: readonly Option[];
  /** True if there are more options than those offered. */
  readonly isMore: boolean;
};
/** Options, and the text for choosing none; `none` is empty if an option must be chosen. */
type Choice = Choices & { readonly none: string };

/** Faults of a form: texts by field, and one for the whole form. */
export type FormErrors = {
  readonly fields: ReadonlyMap<keyof KeyFields, string>;
  readonly whole: string;
};

/** Presets in the order of how many people need them, with the use of each. */
const PRESET_WORDS = {
  GatewayDefault: "for an application: models; reads the memory",
  MCPReadOnly: "for an assistant over MCP: reads the memory",
  MCPReadWrite: "for an agent over MCP: writes the memory too",
} as const satisfies Record<Preset, string>;
const PRESET_OPTIONS: readonly Option[] = [
  ...Object.entries(PRESET_WORDS).map(([value, words]) => ({
    ...{ value, title: `${value} (${words})` },
    data: html`data-products="${[...productsOf({ preset: value, scopes: [] })].join(" ")}"`,
  })),
  { value: "", title: "Scopes of its own", data: html`data-custom` },
];

/** Renders a field with its label, its hint, and its fault. */
export function labelled(
  id: FormFieldName,
  errors: FormErrors,
  control: (attributes: Html) => Html,
  hint?: Content,
): Html {
  const fault = errors.fields.get(id);
  const described = [hint && `${id}-hint`, fault && `${id}-error`].filter(Boolean).join(" ");
  const attributes = html`id="${id}" name="${id}"${described !== "" && html` aria-describedby="${described}"`}${
    fault !== undefined && html` aria-invalid="true"`
  }`;
  return html`<div class="field"><label for="${id}">${FORM_FIELDS[id].label}</label>${control(attributes)}${
    hint && html`<p class="hint" id="${id}-hint">${hint}</p>`
  }${fault && html`<p class="error" id="${id}-error">${fault}</p>`}</div>`;
}

export function textField(id: FormFieldName, value: string, errors: FormErrors, hint?: Content): Html {
  return labelled(id, errors, (attributes) => LINE.control(attributes, value), hint);
}

/** Renders the faults of a form, above the form. */
export function errorSummary({ fields, whole }: FormErrors): Html | string {
  if (whole === "") return "";
  return html`<div class="notice bad narrow" role="alert"><p><strong>Nothing was changed.</strong> ${whole}</p>${
    fields.size > 0 && html`<ul>${[...fields].map(([id, fault]) => html`<li><a href="#${id}">${fault}</a></li>`)}</ul>`
  }</div>`;
}

export function scopeFields({ preset, scopes }: KeyFields, errors: FormErrors): Html {
  const fault = errors.fields.get("scopes");
  return html`${labelled("preset", errors, (attributes) =>
    selectOf(attributes, PRESET_OPTIONS, preset),
  )}<fieldset class="for-custom" id="scopes" aria-labelledby="scopes-label"><legend id="scopes-label">${FORM_FIELDS.scopes.label}</legend>${SCOPES.map(
    (scope) =>
      html`<div class="choice"><input type="checkbox" id="scope-${scope}" name="scopes" value="${scope}" data-products="${productOfScope(scope)}" ${flag("checked", scopes.includes(scope))}><label for="scope-${scope}"><code>${scope}</code> <span class="muted">${SCOPE_TEXTS[scope].words}</span></label></div>`,
  )}${fault && html`<p class="error">${fault}</p>`}</fieldset>`;
}

/** Renders member fields, one after the other. */
export function memberFields(rows: readonly MemberField[], fields: KeyFields, errors: FormErrors): Html[] {
  return rows.map(({ name, control, hint }) =>
    labelled(name, errors, (attributes) => control(attributes, fields[name]), hint),
  );
}

/** Renders a choice among the options; a text field with suggestions if there are more options than a page offers. */
export function chosenField(
  id: FormFieldName,
  value: string,
  { none, offered, isMore }: Choice,
  errors: FormErrors,
  hint?: string,
): Html {
  if (isMore) {
    return labelled(
      id,
      errors,
      (attributes) =>
        html`<input ${attributes} value="${value}" list="${id}-list" autocomplete="off" spellcheck="false"><datalist id="${id}-list">${offered.map(
          (one) => html`<option value="${one.value}">${one.title}</option>`,
        )}</datalist>`,
      [hint, hint && " ", "There are more than are offered: write its name.", none && ` Left empty: ${none}.`],
    );
  }
  const shown = withChosen(offered, value === "" ? [] : [value]);
  return labelled(id, errors, (attributes) => selectOf(attributes, shown, value, none), hint);
}

/**
 * Adds to the options a chosen value that is not offered, such as a name without its namespace, so that it stays
 * chosen.
 */
export function withChosen(offered: Choices["offered"], chosen: readonly string[]): Choices["offered"] {
  const others = chosen.filter((one) => offered.every(({ value }) => value !== one));
  return [...others.map((value) => ({ value, title: value })), ...offered];
}
