import { type Html, html } from "../../../pages/html.ts";
import type { FormManifest } from "./form-manifest.ts";

/** Path that the form of a new key asks for its manifest. */
export const FORM_MANIFEST_PATH = "/dashboard/keys/new/manifest";
/** Id of the form's element. */
export const CREATE_FORM = "create-key";
const PANEL = "as-manifest";

/** Attributes by which a form keeps its manifest up to date with what is typed. */
export const FOLLOWED_BY_MANIFEST = html`hx-post="${FORM_MANIFEST_PATH}" hx-trigger="input delay:400ms" hx-sync="this:replace" hx-validate="false" hx-target="#${PANEL}" hx-swap="outerHTML"`;

/**
 * Renders the manifest beside its form. It follows the form by script, or by its button.
 *
 * @param isRefused true if the page says already what is wrong with the form
 */
export function manifestPanel(manifest: FormManifest, isRefused: boolean): Html {
  const { yaml, errors, lacks, declared } = manifest;
  const isWhole = errors.whole === "" && lacks.length === 0;
  return html`<section class="panel narrow" id="${PANEL}" aria-labelledby="${PANEL}-title" data-faults-of="${CREATE_FORM}"><h2 id="${PANEL}-title">As a manifest</h2>
<p class="notice warn" role="status" data-stale hidden>The server did not answer: this is what you typed before.</p>
${errors.whole === "" ? (isWhole ? howToDeclare(manifest) : html`<p class="muted">It still lacks ${lacks.join(" and ")}.</p>`) : faultsOf(manifest, isRefused)}
<pre id="manifest" tabindex="0" aria-label="The key as a manifest">${yaml}</pre>
<p class="actions">${isWhole && declared === undefined && html`<button type="button" data-copy="manifest" hidden>Copy YAML</button>`}<button class="scriptless" form="${CREATE_FORM}" formaction="${FORM_MANIFEST_PATH}#${PANEL}">Show as manifest</button></p></section>`;
}

function faultsOf({ errors: { fields, whole } }: FormManifest, isRefused: boolean): Html {
  if (isRefused) return html`<p class="muted">As it was typed.</p>`;
  return html`<div><p><strong>It would be refused.</strong> ${whole}</p>${
    fields.size > 0 && html`<ul>${[...fields].map(([id, fault]) => html`<li><a href="#${id}">${fault}</a></li>`)}</ul>`
  }</div>`;
}

function howToDeclare({ undeclared, namespace, declared }: FormManifest): Html {
  if (declared !== undefined) {
    return html`<p><strong>PlatformKey ${declared} is declared already.</strong> Applied, this would change that key: give this one another name. Generated here, it would be a key of its own.</p>`;
  }
  return html`<p class="muted">The same key as a declaration: apply it, in place of generating the key here.${
    namespace === undefined &&
    " A PlatformKey needs a namespace, and this team holds none in a cluster: its PlatformTeam has to name one."
  }</p>${
    undeclared.length > 0 &&
    html`<div><p>What no manifest has declared yet, and is to be declared before it:</p><ul>${undeclared.map((title) => html`<li>${title}</li>`)}</ul></div>`
  }`;
}
