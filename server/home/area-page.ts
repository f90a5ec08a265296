import type { OpenApiDocument } from "../openapi/format.ts";
import { type Html, html } from "../pages/html.ts";
import { layout } from "../pages/layout.ts";
import { operationsIn, schemasIn } from "./docs-areas.ts";
import { docsNavigation } from "./docs-navigation.ts";
import { operationSection } from "./operation-section.ts";
import { prose } from "./prose.ts";
import { schemaTable } from "./schema-fields.ts";

/** Renders a page of the reference: an area's operations, and the schemas of their requests and responses. */
export function areaPage(document: OpenApiDocument, { name, description }: OpenApiDocument["tags"][number]): Html {
  const operations = operationsIn(document, name);
  const schemas = schemasIn(document, operations);
  return layout({
    title: `${name} · API reference`,
    viewer: null,
    side: docsNavigation(document, name),
    content: html`<div class="head"><div><p class="crumb"><a href="/docs">API reference</a></p><h1>${name}</h1>${prose(description)}<p class="muted">The examples read variables of the shell, which <a href="/docs#begin">how to call it</a> sets.</p></div></div>
${operations.map(operationSection)}
<h2 class="area" id="schemas">Schemas</h2>
${schemas.map(
  ([title, schema]) =>
    html`<section class="panel" id="schema-${title}" aria-labelledby="h-schema-${title}"><h3 id="h-schema-${title}">${title}</h3>${schemaTable(schema, title)}</section>`,
)}`,
  });
}
