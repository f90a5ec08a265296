import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { jsonSchema, manifestSchema, specSchema } from "../../../../domain/manifest/validation/json-schema.ts";

test("the schema of manifests is one that a validator takes which knows the formats of JSON Schema and OpenAPI, and closed", () => {
  const check = formats.default(new Ajv(), ["date-time", "int32", "int64"]).compile(manifestSchema());
  const key = (spec: object) => ({
    ...{ apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey" },
    ...{ metadata: { name: "a", namespace: "b" }, spec },
  });
  expect(check(key({ preset: "MCPReadOnly", allowedCIDRs: ["10.0.0.0/8"] }))).toBe(true);
  expect(check(key({ preset: "MCPReadOnly", allowedCidrs: ["10.0.0.0/8"] }))).toBe(false);
  expect(check({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: {} })).toBe(true);
});

test("the schema that a manifest is checked by knows what a network is", () => {
  expect(JSON.stringify(jsonSchema(specSchema("PlatformKey")))).toContain(`"format":"cidr"`);
  expect(JSON.stringify(manifestSchema())).not.toContain('cidr"');
});
