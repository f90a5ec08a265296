import { counted } from "../../../../domain/counted.ts";
import { DAY_MS, parseDuration } from "../../../../domain/duration.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { csrfField } from "../../../pages/layout.ts";
import type { Viewer } from "../../../pages/viewer.ts";
import { factList } from "../../facts.ts";
import { type Bindings, gatewayFields, libraryFields } from "./binding-fields.ts";
import { budgetFields } from "./budget-fields.ts";
import { FORM_FIELD_NAMES, FORM_FIELDS, type FormFieldName } from "./form-fields.ts";
import type { KeyFields } from "./key-fields.ts";
import { errorSummary, type FormErrors, memberFields, scopeFields } from "./key-form.ts";
import { limitDetails } from "./limit-details.ts";
import { END, NAMING } from "./member-fields.ts";

export type EditForm = {
  readonly key: KeyJson;
  readonly fields: KeyFields;
  /** Values that the form would be filled with now. */
  readonly stored: KeyFields;
  readonly errors: FormErrors;
  readonly bindings: Bindings;
  /** Entity tag of the key that the form was filled with. */
  readonly etag: string;
  /** True if another request has changed the key since then. */
  readonly isOutdated: boolean;
  readonly viewer: Viewer;
};

/** Fields that the form has only for a new key. */
const OF_NEW_KEYS: readonly FormFieldName[] = ["name", "team", "lifetime"];

/** Renders the form for all that can change of a key without a new secret. */
export function editContent(form: EditForm): Html {
  const { key, fields, errors, bindings, etag, viewer } = form;
  const { id, name } = key;
  return html`<div class="head narrow"><div><p class="crumb"><a href="/dashboard/keys">API keys</a> / <a href="/dashboard/keys/${id}">${name}</a></p><h1>Edit ${name}</h1></div></div>
${form.isOutdated ? outdated(form) : errorSummary(errors)}
<div class="scoped narrow"><form class="stack" method="post" action="/dashboard/keys/${id}/edit">${csrfField(viewer.csrf)}
<input type="hidden" name="etag" value="${etag}">
<section class="panel">${memberFields(NAMING, fields, errors)}${scopeFields(fields, errors)}</section>
<section class="panel for-memory">${libraryFields(fields, bindings, errors)}</section>
<section class="panel for-gateway">${gatewayFields(fields, bindings, errors)}</section>
<section class="panel">${expiry(form)}
${budgetFields(fields, errors, key.spec.budgets)}
${limitDetails(fields, errors)}
<p class="actions"><button class="primary">Save</button><a class="button" href="/dashboard/keys/${id}">Cancel</a></p></section>
</form></div>`;
}

/**
 * Renders the end of a key. A key whose versions each have their own end (`expiresAfter`) cannot have an end of its
 * own.
 */
function expiry({ key: { spec }, fields, errors }: EditForm): Html {
  if (spec.expiresAfter === undefined) {
    const hint = "In UTC. Left empty, the key works until it is revoked.";
    return html`${memberFields([{ ...END, hint }], fields, errors)}`;
  }
  const ms = parseDuration(spec.expiresAfter);
  const life = ms % DAY_MS === 0 ? counted(ms / DAY_MS, "day") : spec.expiresAfter;
  return html`<div class="field"><p class="label">${FORM_FIELDS.expires.label}</p><p>Each version ${life} after it was made</p><p class="hint">Rotate the key for a later end. The management API changes how long a version lives.</p></div>`;
}

/** Shows what is stored now, beside the form, which keeps what was typed. */
function outdated({ fields, stored }: EditForm): Html {
  const names = FORM_FIELD_NAMES.filter((name) => !OF_NEW_KEYS.includes(name));
  const others = names.filter((name) => String(stored[name]) !== String(fields[name]));
  return html`<div class="notice warn narrow" role="alert"><p><strong>Nothing was changed.</strong> This key has been changed since you opened it. What you typed is still below; where it is another, this is what is stored now:</p>
${factList(others.map((name) => [FORM_FIELDS[name].label, String(stored[name]) || "Empty"]))}
<p>Take over what you want to keep, and save again.</p></div>`;
}
