import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

const META = createRequire(import.meta.url).resolve("@seriousme/openapi-schema-validator/schemas/v3.1/schema.json");

let compiled: ValidateFunction | undefined;

function compile(): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, code: { optimize: false } });
  formats.default(ajv);
  return ajv.compile(JSON.parse(readFileSync(META, "utf8")));
}

/** What OpenAPI 3.1's own schema says against a document. */
export function metaFaultsOf(document: object): string[] {
  compiled ??= compile();
  const validate = compiled;
  return validate(document) ? [] : (validate.errors ?? []).map((fault) => `${fault.instancePath} ${fault.message}`);
}
