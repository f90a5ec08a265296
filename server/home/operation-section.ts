import type { JsonSchema, Operation, ResponseObject } from "../openapi/format.ts";
import { type Content, type Html, html } from "../pages/html.ts";
import { table } from "../pages/table.ts";
import { exampleCall } from "./example-call.ts";
import { inlineProse, prose } from "./prose.ts";
import { descriptionOf, schemaTable, typeOf } from "./schema-fields.ts";

export type DescribedOperation = { readonly method: string; readonly path: string; readonly operation: Operation };

/** Renders an operation: its parameters, request body, responses and errors, and an example. */
export function operationSection({ method, path, operation }: DescribedOperation): Html {
  const { operationId, summary, description, parameters, responses } = operation;
  const codes = Object.entries(responses).flatMap(([status, answer]) =>
    (answer["x-problem-codes"] ?? []).map((code) => ({ status, code })),
  );
  const example = `example-${operationId}`;
  return html`<article class="panel" id="${operationId}" aria-labelledby="h-${operationId}">
<h2 id="h-${operationId}"><span class="method">${method}</span> <code>${path}</code></h2>
<p><strong>${inlineProse(summary)}.</strong> <span class="hint">Authentication: ${authentication(operation)}</span></p>
${description && prose(description)}
${
  parameters.length > 0 &&
  html`<h3 class="small">Parameters</h3>${table(
    `Parameters of ${method} ${path}`,
    ["Name", "In", "Type", "Description"],
    parameters.map((one) => [
      html`<code>${one.name}</code>${one.required ? html` <span class="hint">required</span>` : ""}`,
      one.in,
      typeOf(one.schema),
      html`${one.description === undefined ? "" : inlineProse(one.description)}${descriptionOf(one.schema)}`,
    ]),
    "reference",
  )}`
}
${bodyOf(method, path, operation)}
<h3 class="small">Responses</h3>
${table(
  `Responses of ${method} ${path}`,
  ["Status", "Body", "Headers"],
  Object.entries(responses)
    .filter(([, answer]) => answer["x-problem-codes"] === undefined)
    .map(([status, answer]) => [
      status === "default" ? "other" : html`<code>${status}</code>`,
      answerBody(answer),
      headersOf(answer),
    ]),
  "reference",
)}
${
  codes.length > 0 &&
  html`<h3 class="small">Errors</h3><p class="chips">${codes.map(
    ({ status, code }) => html`<a class="chip" href="/docs#code-${code}">${status} ${code}</a>`,
  )}</p>`
}
<h3 class="small">Example</h3>
<div class="paste"><pre tabindex="0"><code id="${example}">${exampleCall(method, path, operation)}</code></pre><button type="button" data-copy="${example}" aria-label="Copy the call of ${method} ${path}">Copy</button></div>
</article>`;
}

function bodyOf(method: string, path: string, { requestBody }: Operation): Content {
  if (requestBody === undefined) return "";
  return html`<h3 class="small">Request body</h3>${Object.entries(requestBody.content).map(
    ([type, { schema }]) =>
      html`<p><code>${type}</code>${requestBody.required ? "" : ", optional"}</p>${schemaTable(schema, `Request body of ${method} ${path}`)}`,
  )}`;
}

function answerBody({ description, content = {} }: ResponseObject): Html {
  const bodies = Object.entries(content).map(([type, { schema }]) => ({ type, schema }));
  // The name of a body is its description.
  const isNamed = bodies.some(({ schema }) => schema.$ref !== undefined);
  return html`${isNamed ? "" : html`<span class="line">${inlineProse(description)}</span>`}${bodies.map(
    ({ type, schema }) => html`<span class="line">${shape(schema)}<code>${type}</code></span>`,
  )}`;
}

function shape(schema: JsonSchema): Content {
  return Object.keys(schema).length === 0 ? "" : html`${typeOf(schema)}, `;
}

function headersOf({ headers = {} }: ResponseObject): Html {
  return html`${Object.entries(headers).map(
    ([name, { description }]) =>
      html`<span class="line"><code>${name}</code> <span class="hint">${inlineProse(description)}</span></span>`,
  )}`;
}

function authentication({ security }: Operation): string {
  if (security.some((one) => "bearerKey" in one)) return "API key";
  if (security.some((one) => Object.keys(one).length === 0)) return "management token or session, optional";
  return security.length > 0 ? "management token or session" : "none";
}
