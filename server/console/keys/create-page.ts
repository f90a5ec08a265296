import { flag, type Html, html } from "../html.ts";
import { csrfField } from "../layout.ts";
import type { Viewer } from "../viewer.ts";
import type { KeyFields } from "./key-fields.ts";
import {
  type Bindings,
  errorSummary,
  expiresField,
  type FormErrors,
  gatewayField,
  labelled,
  libraryFields,
  scopeFields,
  textField,
} from "./key-form.ts";

export type CreateForm = {
  readonly fields: KeyFields;
  readonly errors: FormErrors;
  readonly bindings: Bindings;
  /** Those that a key can be made for. */
  readonly teams: readonly string[];
  /** By which the request is known again, however often it is sent. */
  readonly once: string;
  readonly viewer: Viewer;
};

/** The five steps on one page: what a step is for is shown once the step before says that it is wanted. */
export function createContent({ fields, errors, bindings, teams, once, viewer }: CreateForm): Html {
  return html`<div class="head narrow"><div><p class="crumb"><a href="/dashboard/keys">API keys</a></p><h1>Create key</h1></div></div>
${errorSummary(errors)}
<div class="scoped narrow"><form method="post" action="/dashboard/keys/new">${csrfField(viewer.csrf)}
<input type="hidden" name="once" value="${once}">
<ol class="steps">
<li class="panel"><h2>Name</h2>${textField("name", "Name", fields.name, errors, "Small letters, digits and hyphens, such as checkout-assistant.")}
${labelled("team", "Team", errors, (attributes) => html`<select ${attributes}>${teams.map((team) => html`<option value="${team}" ${flag("selected", team === fields.team)}>${team}</option>`)}</select>`)}</li>
<li class="panel"><h2>What it may do</h2>${scopeFields(fields, errors)}</li>
<li class="panel for-memory"><h2>Libraries</h2>${libraryFields(fields, bindings, errors)}</li>
<li class="panel for-gateway"><h2>Gateway</h2>${gatewayField(fields, bindings, errors)}</li>
<li class="panel"><h2>Generate</h2>${expiresField(fields, errors)}
<p class="hint">The key is shown once, on the next page. It is kept nowhere.</p>
<p class="actions"><button class="primary">Generate key</button><a class="button" href="/dashboard/keys">Cancel</a></p></li>
</ol></form></div>`;
}
