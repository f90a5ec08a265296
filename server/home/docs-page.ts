import { PROBLEMS } from "../http/problems/catalogue.ts";
import type { OpenApiDocument } from "../openapi/format.ts";
import { type Html, html } from "../pages/html.ts";
import { layout } from "../pages/layout.ts";
import { table } from "../pages/table.ts";
import { type DescribedOperation, operationSection } from "./operation-section.ts";
import { inlineProse, prose } from "./prose.ts";
import { schemaTable } from "./schema-fields.ts";

/** Paths of operations that are shown by another one of theirs. */
const ALIAS = /^\/api\/v1\/memory\/atoms|\/v1\/models\/\{model\}:/;

/**
 * A description of the API as a page for people, with everything that it gives programs.
 *
 * @param base where clients reach this server, without a slash at its end
 */
export function docsPage(document: OpenApiDocument, base: string): Html {
  const { info, tags, components } = document;
  const all = shownOf(document);
  const areas = tags
    .map((tag) => ({
      ...tag,
      id: `area-${tag.name}`,
      shown: all.filter(({ operation }) => operation.tags.includes(tag.name)),
    }))
    .filter(({ shown }) => shown.length > 0);
  return layout({
    title: "API reference",
    viewer: null,
    side: html`<nav class="side contents" aria-label="On this page"><ul>
<li><a href="#begin">How to call it</a></li>
${areas.map(
  ({ id, name, shown }) =>
    html`<li><a href="#${id}">${name}</a><ul>${shown.map(
      ({ method, path, operation }) =>
        html`<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${shortened(path)}</a></li>`,
    )}</ul></li>`,
)}
<li><a href="#refusals">Refusals</a></li><li><a href="#schemas">Schemas</a></li></ul></nav>`,
    content: html`<div class="head"><div><h1>API reference</h1><p class="muted">${info.summary}</p></div><a class="button" href="/openapi.json">OpenAPI ${document.openapi}</a></div>
${begin(document, base)}
${areas.map(
  ({ id, name, description, shown }) =>
    html`<section class="stack" id="${id}" aria-labelledby="h-${id}"><div><h2 class="area" id="h-${id}">${name}</h2>${prose(description)}</div>
${shown.map(operationSection)}</section>`,
)}
<section class="panel" id="refusals" aria-labelledby="h-refusals"><h2 id="h-refusals">Refusals</h2>
<p>A refusal is a <a href="#schema-Problem">problem document</a> (RFC 9457), but behind a gateway, where it has the form of the path's API, and of a message of MCP, where it is JSON-RPC's.</p>
${table(
  "Refusals",
  ["Code", "Status", "What it says"],
  Object.entries(PROBLEMS).map(([code, { status, detail }]) => [
    html`<code id="code-${code}">${code}</code>`,
    status,
    inlineProse(detail),
  ]),
  "reference",
)}</section>
<section class="stack" id="schemas" aria-labelledby="h-schemas"><h2 class="area" id="h-schemas">Schemas</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) =>
    html`<article class="panel" id="schema-${name}" aria-labelledby="h-schema-${name}"><h3 id="h-schema-${name}">${name}</h3>${schemaTable(schema, name)}</article>`,
)}</section>`,
  });
}

function shownOf({ paths }: OpenApiDocument): DescribedOperation[] {
  return Object.entries(paths)
    .filter(([path]) => !ALIAS.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
}

/** What an entry of the navigation needs of a path whose area it stands under. */
function shortened(path: string): string {
  return path.replace(/^\/api\/v1|^\/g\/\{publicId\}/, "");
}

function begin({ info, components }: OpenApiDocument, base: string): Html {
  const carriers = Object.values(components.securitySchemes).map((scheme) => [
    html`<code>${scheme.scheme === "bearer" ? "Authorization: Bearer" : (scheme.name ?? "")}</code>`,
    scheme.scheme === "bearer" ? "header" : (scheme.in ?? ""),
    inlineProse(scheme.description),
  ]);
  return html`<section class="panel" id="begin" aria-labelledby="h-begin"><h2 id="h-begin">How to call it</h2>
<p>The examples are for bash or zsh, and read from variables where this server is reached and what opens it. Where it is reached:</p>
<pre tabindex="0"><code>export KEYPLANE_BASE_URL='${base}'</code></pre>
<p>An API key, for the memory, MCP and the gateways. Typed behind this, it is not in the shell's history:</p>
<pre tabindex="0"><code>read -rs KEYPLANE_API_KEY</code></pre>
<p>In the same way a token, for the management:</p>
<pre tabindex="0"><code>read -rs KEYPLANE_TOKEN</code></pre>
${prose(info.description)}
${table("What opens it", ["Carrier", "In", "What it is"], carriers, "reference")}</section>`;
}
