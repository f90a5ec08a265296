import { isScope } from "../../../../domain/access/scopes.ts";
import { renderSecretData } from "../../../../domain/key/secret/secret-template.ts";
import { writeYaml } from "../../../../domain/manifest/document/write-yaml.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { chips, factList } from "../../facts.ts";
import { urlWithQuery } from "../../query-text.ts";
import { mayCallModels } from "../key-words.ts";
import { type CallableGateway, firstCalls, mayUseMemory } from "./first-call.ts";

/**
 * Placeholder of the key in a file that the page holds. The page's script puts the key there as the file is downloaded.
 */
const PLACEHOLDER = "KEY-IS-PUT-HERE";

export type ShownOnce = {
  readonly key: KeyJson;
  /** Full text of the key. */
  readonly secret: string;
  /** True if the form was sent before: the key in its first answer has ended. */
  readonly isAgain: boolean;
  /** URL at which clients reach this server, without a slash at its end. */
  readonly publicUrl: string;
  /** Gateway that the key may call; undefined if there is none. */
  readonly gateway: CallableGateway | undefined;
};

/**
 * Renders the only page that shows a key. Its script downloads files with the key, and removes the key as the page is
 * left.
 */
export function shownOnceContent({ key, secret, isAgain, publicUrl, gateway }: ShownOnce): Html {
  const { id, name, scopes } = key;
  const number = key.versions[0]?.number ?? 1;
  return html`<div class="head narrow"><div><p class="crumb"><a href="/dashboard/keys">API keys</a> / <a href="/dashboard/keys/${id}">${name}</a></p>
<h1>${number === 1 ? "Your new key" : `Version ${number} of ${name}`}</h1></div></div>
${isAgain && sentTwice(key)}<div class="panel narrow" data-shown-once="/dashboard/keys/${id}">
<p><strong>Copy it now.</strong> This page is the only one that ever shows it: it is kept nowhere, and cannot be read again.</p>
<p class="secret" id="secret" tabindex="0" aria-label="The key">${secret}</p>
<p class="actions"><button class="primary" type="button" data-copy="secret" hidden>Copy key</button>${files(
    key,
    publicUrl,
  ).map(
    ({ title, file, content }) =>
      html`<button type="button" data-download="${file}" hidden>${title}</button><template data-file="${file}">${content}</template>`,
  )}</p>
${factList([
  ["Name", name],
  ["Team", key.team],
  ["Scopes", chips(scopes)],
  ...(mayCallModels(key) ? [["Base URLs", baseUrls(key)] as const] : []),
])}
<p><a class="button" href="/dashboard/keys/${id}">To the key's page</a></p></div>
${firstCalls(key, gateway, publicUrl)}`;
}

/** Links to the gateways of the team, whose pages show the base URLs for calling models. */
function baseUrls({ team }: KeyJson): Html {
  return html`<a href="${urlWithQuery("/dashboard/gateways", { team })}">Gateways of the team</a>: the page of each has those for SDKs. Copy the key first.`;
}

/** Warns that the key in the form's first answer has ended, above the key that replaces it. */
function sentTwice({ versions }: KeyJson): Html {
  const before = versions.some(({ state }) => state === "retiring");
  return html`<div class="notice warn narrow" role="alert"><p><strong>This form was sent twice.</strong> The key shown by the first answer was ended; use this one.${
    before && " What worked before the form was sent works on for as long as it said."
  }</p></div>
`;
}

function files(key: KeyJson, publicUrl: string): { title: string; file: string; content: string }[] {
  const { name } = key;
  const secretManifest = {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name }, type: "Opaque" },
    stringData: dataOf(key, publicUrl, "Env"),
  };
  const environment = Object.entries(dataOf(key, publicUrl, "Env")).filter(([variable]) => /^[A-Z_]+$/.test(variable));
  const mcp = dataOf(key, publicUrl, "McpConfig")["mcp.json"];
  return [
    { title: "Secret manifest", file: `${name}.yaml`, content: writeYaml(secretManifest) },
    {
      title: "Dotenv",
      file: `${name}.env`,
      content: environment.map(([name, value]) => `${name}=${value}\n`).join(""),
    },
    ...(mcp !== undefined && mayUseMemory(key) ? [{ title: "mcp.json", file: "mcp.json", content: mcp }] : []),
  ];
}

function dataOf({ scopes }: KeyJson, publicUrl: string, template: "Env" | "McpConfig") {
  const declared = { scopes: scopes.filter(isScope), secret: { dataKey: "KEYPLANE_API_KEY", template } };
  return renderSecretData(PLACEHOLDER, declared, { publicUrl, gatewayPublicId: null });
}

/**
 * Renders the answer to a form that is sent again after the version it made is in use, or is no longer the active
 * version.
 */
export function shownAlreadyContent({ id, name }: KeyJson): Html {
  return html`<div class="panel narrow"><h1>This key was shown already</h1>
<p>The form was sent once before, and made what <strong>${name}</strong> has had since: it is in use, or was replaced, and nothing was made now. Its secret was on that page alone.</p>
<p class="actions"><a class="button primary" href="/dashboard/keys/${id}">To the key's page</a></p>
<p class="muted">If it was not copied, rotate the key there: the new version is shown once again.</p></div>`;
}
