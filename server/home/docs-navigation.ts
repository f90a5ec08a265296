import { referencePath } from "../openapi/areas.ts";
import type { OpenApiDocument } from "../openapi/format.ts";
import { type Html, html } from "../pages/html.ts";
import { operationsIn } from "./docs-areas.ts";

/**
 * Renders the navigation of the reference: its pages, and the parts of the present page.
 *
 * @param present area of the present page; null for the overview
 */
export function docsNavigation(document: OpenApiDocument, present: string | null): Html {
  const parts = present === null ? OVERVIEW_PARTS : operationParts(document, present);
  const entry = (name: string, path: string, isPresent: boolean) =>
    isPresent
      ? html`<li><a href="${path}" aria-current="page">${name}</a><ul>${parts}</ul></li>`
      : html`<li><a href="${path}">${name}</a></li>`;
  return html`<nav class="side contents" aria-label="API reference"><ul>
${entry("Overview", "/docs", present === null)}
${document.tags.map(({ name }) => entry(name, referencePath(name), name === present))}</ul></nav>`;
}

const OVERVIEW_PARTS = html`<li><a href="#begin">How to call it</a></li><li><a href="#operations">Operations</a></li><li><a href="#errors">Errors</a></li>`;

function operationParts(document: OpenApiDocument, area: string): Html {
  return html`${operationsIn(document, area).map(
    ({ method, path, operation }) =>
      html`<li><a href="#${operation.operationId}"><span class="method">${method}</span><span>${shortened(path)}</span></a></li>`,
  )}`;
}

/** Shortens a path for an entry of the navigation, under the area that it belongs to. It may break before each part. */
function shortened(path: string): Html {
  const parts = path.replace(/^\/api\/v1|^\/g\/\{publicId\}/, "").split(/(?=[/:])/);
  return html`${parts.map((part) => html`<wbr>${part}`)}`;
}
