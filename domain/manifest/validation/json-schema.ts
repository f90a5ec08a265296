import { SCHEMAS } from "../../kinds/generated/schemas.ts";
import { API_VERSIONS, isClusterScoped, KINDS, type Kind } from "../../kinds/kinds.ts";
import type { Schema } from "../../kinds/schema.ts";

/** Converts a schema to JSON Schema: without `x-kubernetes-*`, and closed, because unknown fields are refused. */
export function jsonSchema(schema: Schema): Record<string, unknown> {
  const { items, properties, ...rest } = schema;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !keyword.startsWith("x-"))),
    ...(items && { items: jsonSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, jsonSchema(field)])),
      additionalProperties: false,
    }),
  };
}

/** Schemas of all kinds, as the API server has them. */
type Schemas = Readonly<Record<Kind, Schema>>;

/** Returns the JSON Schema of a manifest of any of Keyplane's kinds, for editors. Manifests of other kinds pass. */
export function manifestSchema(schemas: Schemas = SCHEMAS): Record<string, unknown> {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Manifests of Keyplane",
    allOf: KINDS.map((kind) => ({
      if: { type: "object", required: ["kind"], properties: { kind: { const: kind } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: {
        type: "object",
        required: ["apiVersion", "metadata", "spec"],
        properties: {
          apiVersion: { enum: API_VERSIONS },
          kind: true,
          metadata: { type: "object", required: isClusterScoped(kind) ? ["name"] : ["name", "namespace"] },
          spec: withoutForeignFormats(jsonSchema(specSchema(kind, schemas))),
          status: true,
        },
        additionalProperties: false,
      },
    })),
  };
}

/** Removes formats that JSON Schema and OpenAPI do not define: a strict editor refuses a schema with such a format. */
function withoutForeignFormats(schema: Record<string, unknown>): Record<string, unknown> {
  const isForeign = (keyword: string, value: unknown) => keyword === "format" && value === "cidr";
  return JSON.parse(JSON.stringify(schema, (keyword, value) => (isForeign(keyword, value) ? undefined : value)));
}

/** Returns the schema of a kind's spec. */
export function specSchema(kind: Kind, schemas: Schemas = SCHEMAS): Schema {
  const spec = schemas[kind].properties?.spec;
  if (spec === undefined) throw new Error(`the schema of ${kind} has no spec`);
  return spec;
}

/** Returns the JSON Schema of some fields of a kind's spec. */
export function pickFields(kind: Kind, fields: readonly string[]): Record<string, unknown> {
  const { properties = {}, ...spec } = specSchema(kind);
  const picked = Object.entries(properties).filter(([name]) => fields.includes(name));
  return jsonSchema({ ...spec, properties: Object.fromEntries(picked) });
}
