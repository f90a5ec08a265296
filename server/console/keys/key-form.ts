import { PRESETS, SCOPES } from "../../../domain/access/scopes.ts";
import { type Content, flag, type Html, html } from "../html.ts";
import { type KeyFields, productOfScope } from "./key-fields.ts";

/** What a key can be bound to: references, and the words for them. */
export type Bindings = {
  readonly libraries: readonly { readonly ref: string; readonly title: string }[];
  readonly gateways: readonly { readonly ref: string; readonly title: string }[];
};

/** What is wrong with a form: of each field in its words, and of the whole. */
export type FormErrors = {
  readonly fields: ReadonlyMap<keyof KeyFields, string>;
  readonly whole: string;
};

const PRESET_WORDS = {
  MCPReadOnly: "search and read the memory",
  MCPReadWrite: "read and write the memory",
  GatewayDefault: "models, embeddings, routes; read the memory",
} as const satisfies Record<keyof typeof PRESETS, string>;
const SCOPE_WORDS = {
  "gateway:generate": "Ask models",
  "gateway:embed": "Make embeddings",
  "gateway:routes": "Use a gateway's own routes",
  "memory:read": "Search and read atoms",
  "memory:write": "Write and delete atoms",
} as const satisfies Record<(typeof SCOPES)[number], string>;

/** A field with its label, what to write there, and what is wrong with what stands there. */
export function labelled(
  id: keyof KeyFields,
  label: string,
  errors: FormErrors,
  control: (attributes: Html) => Html,
  hint?: Content,
): Html {
  const fault = errors.fields.get(id);
  const described = [hint && `${id}-hint`, fault && `${id}-error`].filter(Boolean).join(" ");
  const attributes = html`id="${id}" name="${id}"${described !== "" && html` aria-describedby="${described}"`}${
    fault !== undefined && html` aria-invalid="true"`
  }`;
  return html`<div class="field"><label for="${id}">${label}</label>${control(attributes)}${
    hint && html`<p class="hint" id="${id}-hint">${hint}</p>`
  }${fault && html`<p class="error" id="${id}-error">${fault}</p>`}</div>`;
}

export function textField(id: keyof KeyFields, label: string, value: string, errors: FormErrors, hint?: Content): Html {
  return labelled(
    id,
    label,
    errors,
    (attributes) => html`<input ${attributes} value="${value}" autocomplete="off" spellcheck="false">`,
    hint,
  );
}

/** What is wrong with a form, before all of it. */
export function errorSummary({ fields, whole }: FormErrors): Html | string {
  if (whole === "") return "";
  return html`<div class="notice bad narrow" role="alert"><p><strong>Nothing was changed.</strong> ${whole}</p>${
    fields.size > 0 && html`<ul>${[...fields].map(([id, fault]) => html`<li><a href="#${id}">${fault}</a></li>`)}</ul>`
  }</div>`;
}

export function scopeFields({ preset, scopes }: KeyFields, errors: FormErrors): Html {
  const names = Object.keys(PRESETS) as (keyof typeof PRESETS)[];
  const fault = errors.fields.get("scopes");
  return html`${labelled(
    "preset",
    "Preset",
    errors,
    (attributes) =>
      html`<select ${attributes}>${names.map(
        (name) =>
          html`<option value="${name}" data-products="${productsOf(PRESETS[name])}" ${flag("selected", name === preset)}>${name} (${PRESET_WORDS[name]})</option>`,
      )}<option value="" data-custom ${flag("selected", preset === "")}>Scopes of its own</option></select>`,
  )}<fieldset class="for-custom" id="scopes" aria-labelledby="scopes-label"><legend id="scopes-label">Scopes</legend>${SCOPES.map(
    (scope) =>
      html`<div class="choice"><input type="checkbox" id="scope-${scope}" name="scopes" value="${scope}" data-products="${productOfScope(scope)}" ${flag("checked", scopes.includes(scope))}><label for="scope-${scope}"><code>${scope}</code> <span class="muted">${SCOPE_WORDS[scope]}</span></label></div>`,
  )}${fault && html`<p class="error">${fault}</p>`}</fieldset>`;
}

function productsOf(scopes: readonly (typeof SCOPES)[number][]): string {
  return [...new Set(scopes.map(productOfScope))].join(" ");
}

export function libraryFields(fields: KeyFields, { libraries }: Bindings, errors: FormErrors): Html {
  const restricted = fields.libraryAccess === "Restricted";
  const known = withBound(libraries, fields.libraries);
  const fault = errors.fields.get("libraries");
  return html`${labelled(
    "libraryAccess",
    "Library access",
    errors,
    (
      attributes,
    ) => html`<select ${attributes}><option value="All" ${flag("selected", !restricted)}>All of the team's libraries</option>
<option value="Restricted" data-restricted ${flag("selected", restricted)}>Only those below</option></select>`,
  )}<fieldset class="for-restricted" id="libraries"><legend>Libraries</legend>${
    known.length === 0
      ? html`<p class="hint">There is no library yet: the key will reach none.</p>`
      : known.map(
          ({ ref, title }, i) =>
            html`<div class="choice"><input type="checkbox" id="library-${i}" name="libraries" value="${ref}" ${flag("checked", fields.libraries.includes(ref))}><label for="library-${i}">${title}</label></div>`,
        )
  }${fault && html`<p class="error">${fault}</p>`}</fieldset>${refField(
    "defaultLibrary",
    "MCP default library",
    fields.defaultLibrary,
    { none: "None: the team's default", refs: libraries },
    errors,
    "What an MCP client writes to where it names no library.",
  )}`;
}

/** What is bound and is not offered stays what it is, such as a name without its namespace. */
function withBound(offered: Bindings["libraries"], bound: readonly string[]): Bindings["libraries"] {
  const others = bound.filter((one) => offered.every(({ ref }) => ref !== one));
  return [...others.map((ref) => ({ ref, title: ref })), ...offered];
}

export function gatewayField(fields: KeyFields, { gateways }: Bindings, errors: FormErrors): Html {
  const choice = { none: "Any of the team's gateways", refs: gateways };
  return refField(
    "gateway",
    "Gateway",
    fields.gateway,
    choice,
    errors,
    "Bound to one, the key is refused by every other.",
  );
}

function refField(
  id: keyof KeyFields,
  label: string,
  value: string,
  { none, refs }: { readonly none: string; readonly refs: Bindings["gateways"] },
  errors: FormErrors,
  hint: string,
): Html {
  const known = withBound(refs, value === "" ? [] : [value]);
  return labelled(
    id,
    label,
    errors,
    (attributes) =>
      html`<select ${attributes}><option value="">${none}</option>${known.map(
        ({ ref, title }) => html`<option value="${ref}" ${flag("selected", ref === value)}>${title}</option>`,
      )}</select>`,
    hint,
  );
}

export function expiresField({ expires }: KeyFields, errors: FormErrors): Html {
  return labelled(
    "expires",
    "Expires",
    errors,
    (attributes) => html`<input ${attributes} type="datetime-local" value="${expires}">`,
    "In UTC. Left empty, the key works until it is revoked.",
  );
}
