import type { JsonSchema, OpenApiDocument } from "../openapi/format.ts";
import type { DescribedOperation } from "./operation-section.ts";

/** Matches paths of operations that the reference shows under another path. */
const ALIAS = /^\/api\/v1\/memory\/atoms|\/v1\/models\/\{model\}:/;

/** Returns the operations of an area, in the document's order. */
export function operationsIn({ paths }: OpenApiDocument, area: string): DescribedOperation[] {
  return Object.entries(paths)
    .filter(([path]) => !ALIAS.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
    .filter(({ operation }) => operation.tags.includes(area));
}

/** Returns the schemas that a value refers to, directly or through other schemas, with their names. */
export function schemasIn({ components }: OpenApiDocument, value: unknown): [name: string, schema: JsonSchema][] {
  const named = new Set<string>();
  const collect = (part: unknown): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      if (named.has(name)) continue;
      named.add(name);
      collect(components.schemas[name]);
    }
  };
  collect(value);
  return Object.entries(components.schemas)
    .filter(([name]) => named.has(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
