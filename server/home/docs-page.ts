import { PROBLEMS } from "../http/problems/catalogue.ts";
import { referencePath } from "../openapi/areas.ts";
import type { OpenApiDocument } from "../openapi/format.ts";
import { type Html, html } from "../pages/html.ts";
import { layout } from "../pages/layout.ts";
import { table } from "../pages/table.ts";
import { operationsIn } from "./docs-areas.ts";
import { docsNavigation } from "./docs-navigation.ts";
import { inlineProse, prose } from "./prose.ts";

/**
 * Renders the overview of the reference: how to call the API, its areas with their operations, and the codes of its
 * errors. Each area has a page of its own.
 *
 * @param base URL at which clients reach this server, without a slash at its end
 */
export function docsPage(document: OpenApiDocument, base: string): Html {
  return layout({
    title: "API reference",
    viewer: null,
    side: docsNavigation(document, null),
    content: html`<div class="head"><div><h1>API reference</h1><p class="muted">${document.info.summary}</p></div><a class="button" href="/openapi.json">OpenAPI ${document.openapi}</a></div>
${begin(document, base)}
<h2 class="area" id="operations">Operations</h2>
${document.tags.map((tag) => area(document, tag))}
<section class="panel" id="errors" aria-labelledby="h-errors"><h2 id="h-errors">Errors</h2>
<p>The body of an error is a <a href="${referencePath("Keys")}#schema-Problem">problem document</a> (RFC 9457). Behind a gateway it has the form of the path's API, and in a message of MCP that of JSON-RPC.</p>
${table(
  "Errors",
  ["Code", "Status", "Description"],
  Object.entries(PROBLEMS).map(([code, { status, detail }]) => [
    html`<code id="code-${code}">${code}</code>`,
    status,
    inlineProse(detail),
  ]),
  "reference",
)}</section>`,
  });
}

/**
 * Renders an area in short. Its operations have their ids here too, since links to them led to this page before areas
 * had their own.
 */
function area(document: OpenApiDocument, { name, description }: OpenApiDocument["tags"][number]): Html {
  const page = referencePath(name);
  return html`<section class="panel" aria-labelledby="area-${name}"><h3 id="area-${name}"><a href="${page}">${name}</a></h3>${prose(description)}
${table(
  `Operations of ${name}`,
  [
    ["Operation", "whole", "plain"],
    ["Summary", "plain"],
  ],
  operationsIn(document, name).map(({ method, path, operation: { operationId, summary } }) => [
    html`<a class="name" id="${operationId}" href="${page}#${operationId}"><span class="method">${method}</span> <code>${path}</code></a>`,
    inlineProse(summary),
  ]),
  "reference",
)}</section>`;
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
${table("Authentication", ["Carrier", "In", "Description"], carriers, "reference")}</section>`;
}
