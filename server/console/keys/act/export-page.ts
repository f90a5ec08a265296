import { writeYaml } from "../../../../domain/manifest/document/write-yaml.ts";
import type { KeyExport } from "../../../management/keys/shown/export-key.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { flag, type Html, html } from "../../../pages/html.ts";

export type ExportPage = {
  readonly key: KeyJson;
  /** Manifest of the key; null if it cannot be exported. */
  readonly exported: KeyExport | null;
  /** Reason why there is no export, or what is wrong with the request; empty otherwise. */
  readonly refused: string;
};

/** Shows the manifest of a key that was made by hand, and how to take the key into Git with it. */
export function exportContent({ key, exported, refused }: ExportPage): Html {
  const { id, name } = key;
  return html`<div class="head narrow"><div><p class="crumb"><a href="/dashboard/keys">API keys</a> / <a href="/dashboard/keys/${id}">${name}</a></p><h1>Export ${name}</h1></div></div>
${refused !== "" && html`<div class="notice bad narrow" role="alert"><p><strong>There is no manifest.</strong> ${refused}</p></div>`}
${exported === null ? html`<p class="actions"><a class="button" href="/dashboard/keys/${id}">To the key's page</a></p>` : manifestPanel(key, exported)}`;
}

function manifestPanel({ id }: KeyJson, { manifest, namespaces, undeclared }: KeyExport): Html {
  const { name, namespace } = manifest.metadata;
  const file = `/dashboard/keys/${id}/manifest.yaml?${new URLSearchParams({ namespace })}`;
  return html`${undeclared.length > 0 && undeclaredNotice(undeclared, namespace)}
<div class="panel narrow">
<p>Put this manifest among your others, and apply it. Its controller then takes the key over: the same key and the same secret, so that its users notice nothing. From then on the manifest says what the key may do, and removing it revokes the key.</p>
${namespaces.length > 1 && namespaceForm(id, namespaces, namespace)}
<pre id="manifest" tabindex="0" aria-label="The manifest">${writeYaml(manifest)}</pre>
<p class="actions"><button type="button" class="primary" data-copy="manifest" hidden>Copy YAML</button><a class="button" href="${file}" download="${name}.yaml">Download</a><a class="button" href="/dashboard/keys/${id}">To the key's page</a></p>
<p class="muted small">It holds no secret, but the hash of one. A rotation before it is applied makes another manifest necessary. The annotation may stay: it does nothing more.</p></div>`;
}

function namespaceForm(id: string, namespaces: readonly string[], chosen: string): Html {
  return html`<form class="filters short" method="get" action="/dashboard/keys/${id}/manifest"><div class="field"><label for="namespace">Namespace</label><select id="namespace" name="namespace">${namespaces.map(
    (one) => html`<option value="${one}" ${flag("selected", one === chosen)}>${one}</option>`,
  )}</select></div><button>Choose</button></form>`;
}

/**
 * Warns of references that no manifest declares. The controller refuses the manifest without them, since the key could
 * otherwise reach something else.
 */
function undeclaredNotice(undeclared: readonly string[], namespace: string): Html {
  return html`<div class="notice warn narrow"><p><strong>Declare these first.</strong> The key is bound to what no manifest has declared; the take-over waits until namespace ${namespace} has:</p><ul>${undeclared.map((title) => html`<li>${title}</li>`)}</ul></div>`;
}
