import { Ajv } from "ajv";
import type { FastifyInstance } from "fastify";
import { problem } from "./problems/problem.ts";
import { describeSchemaError } from "./schema-error.ts";

const NAMES: Readonly<Record<string, string>> = { body: "The body", querystring: "The query", params: "The path" };

/** A declaration's spec is checked by the declarations' own validator, which names every fault and what to write. */
function withoutSpec(schema: object): object {
  if (!("properties" in schema) || typeof schema.properties !== "object" || schema.properties === null) return schema;
  return "spec" in schema.properties
    ? { ...schema, properties: { ...schema.properties, spec: { type: "object" } } }
    : schema;
}

/**
 * Has the routes of a plugin validate what they take: nothing is removed or guessed, but for numbers in a query, which
 * arrive as text. Unknown fields are an error where a schema says so (threats b59).
 */
export function validateStrictly(app: FastifyInstance): void {
  const exact = new Ajv({ strict: true, allowUnionTypes: true, verbose: true, useDefaults: true });
  const query = new Ajv({ strict: true, allowUnionTypes: true, verbose: true, useDefaults: true, coerceTypes: true });
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === "body" ? exact.compile(withoutSpec(schema)) : query.compile(schema),
  );
  app.setSchemaErrorFormatter((faults, part) => {
    const [fault] = faults;
    return problem("invalid_request", describeSchemaError(fault, NAMES[part] ?? "The request"));
  });
}
