import { SCHEMAS } from "../../kinds/generated/schemas.ts";
import { API_VERSIONS, isClusterScoped, KINDS, type Kind } from "../../kinds/kinds.ts";
import type { Schema } from "../../kinds/schema.ts";

/** A schema as JSON Schema has it: without `x-kubernetes-*`, and closed, since unknown fields are refused. */
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

/** The schema of each kind, as the API server has it. */
type Schemas = Readonly<Record<Kind, Schema>>;

/** A manifest of any kind of Keyplane's, as JSON Schema has it, for editors. Manifests of other kinds pass. */
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

/** An editor that is strict refuses a schema with a format that JSON Schema and OpenAPI do not know. */
function withoutForeignFormats(schema: Record<string, unknown>): Record<string, unknown> {
  const isForeign = (keyword: string, value: unknown) => keyword === "format" && value === "cidr";
  return JSON.parse(JSON.stringify(schema, (keyword, value) => (isForeign(keyword, value) ? undefined : value)));
}

/** A kind's spec. */
export function specSchema(kind: Kind, schemas: Schemas = SCHEMAS): Schema {
  const spec = schemas[kind].properties?.spec;
  if (spec === undefined) throw new Error(`the schema of ${kind} has no spec`);
  return spec;
}

/** Some fields of a kind's spec, as JSON Schema has them. */
export function pickFields(kind: Kind, fields: readonly string[]): Record<string, unknown> {
  const { properties = {}, ...spec } = specSchema(kind);
  const picked = Object.entries(properties).filter(([name]) => fields.includes(name));
  return jsonSchema({ ...spec, properties: Object.fromEntries(picked) });
}
