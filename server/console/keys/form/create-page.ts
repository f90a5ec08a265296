import { type Html, html } from "../../../pages/html.ts";
import { csrfField } from "../../../pages/layout.ts";
import type { Viewer } from "../../../pages/viewer.ts";
import { type Bindings, gatewayFields, libraryFields } from "./binding-fields.ts";
import { budgetFields } from "./budget-fields.ts";
import type { FormManifest } from "./form-manifest.ts";
import type { KeyFields } from "./key-fields.ts";
import {
  type Choices,
  chosenField,
  errorSummary,
  type FormErrors,
  memberFields,
  scopeFields,
  textField,
} from "./key-form.ts";
import { lifetimeFields } from "./lifetime-fields.ts";
import { limitDetails } from "./limit-details.ts";
import { CREATE_FORM, FOLLOWED_BY_MANIFEST, manifestPanel } from "./manifest-panel.ts";
import { NAMING } from "./member-fields.ts";

export type CreateForm = {
  readonly fields: KeyFields;
  readonly errors: FormErrors;
  readonly manifest: FormManifest;
  readonly bindings: Bindings;
  /** Teams that the viewer may make a key for. */
  readonly teams: Choices;
  /** Id of the submission, which recognises a form that is sent twice. */
  readonly once: string;
  readonly viewer: Viewer;
};

const NO_TEAM = "There is none yet that you may make keys for: see Team.";

/**
 * Renders the five steps of making a key on one page. The fields of a step appear once the step before says that they
 * are needed.
 */
export function createContent({ fields, errors, manifest, bindings, teams, once, viewer }: CreateForm): Html {
  return html`<div class="head narrow"><div><p class="crumb"><a href="/dashboard/keys">API keys</a></p><h1>Create key</h1></div></div>
${errorSummary(errors)}
<p class="notice narrow" role="status" data-kept-note hidden>What you typed before you signed in again is back. Look through it before you send it.</p>
<div class="beside"><div class="scoped narrow"><form id="${CREATE_FORM}" method="post" action="/dashboard/keys/new" data-kept ${FOLLOWED_BY_MANIFEST}>${csrfField(viewer.csrf)}
<input type="hidden" name="once" value="${once}">
<ol class="steps">
<li class="panel"><h2>Name</h2>${textField("name", fields.name, errors, "Small letters, digits and hyphens, such as checkout-assistant.")}
${teamChoice(fields, teams, errors)}${memberFields(NAMING, fields, errors)}</li>
<li class="panel"><h2>What it may do</h2>${scopeFields(fields, errors)}</li>
<li class="panel for-memory"><h2>Libraries</h2>${libraryFields(fields, bindings, errors)}</li>
<li class="panel for-gateway"><h2>Gateway</h2>${gatewayFields(fields, bindings, errors)}</li>
<li class="panel"><h2>Generate</h2>${lifetimeFields(fields, errors)}
${budgetFields(fields, errors)}
${limitDetails(fields, errors)}
<p class="hint">The key is shown once, on the next page. It is kept nowhere.</p>
<p class="actions"><button class="primary">Generate key</button><a class="button" href="/dashboard/keys">Cancel</a></p></li>
</ol></form></div>
${manifestPanel(manifest, errors.whole !== "")}</div>`;
}

/**
 * Renders the choice of the key's team. None of several teams is preselected, since a key of a wrong team is made in
 * one click.
 */
function teamChoice({ team }: KeyFields, teams: Choices, errors: FormErrors): Html {
  const { offered, isMore } = teams;
  const none = offered.length > 1 && !isMore ? "Choose a team" : "";
  return chosenField("team", team, { none, ...teams }, errors, offered.length === 0 ? NO_TEAM : undefined);
}
