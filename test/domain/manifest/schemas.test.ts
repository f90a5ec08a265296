import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { DIALECTS } from "../../../domain/access/key-record.ts";
import { PRESETS, SCOPES } from "../../../domain/access/scopes.ts";
import { SCHEMAS } from "../../../domain/kinds/generated/schemas.ts";
import { API_VERSIONS, isClusterScoped, isKind, KINDS } from "../../../domain/kinds/kinds.ts";
import type { Schema } from "../../../domain/kinds/schema.ts";
import { PATTERNS } from "../../../domain/manifest/validation/schema-check.ts";

const ROOT = join(import.meta.dirname, "../../..");

type Node = { path: string; schema: Schema; inList: boolean };
const nodes: Node[] = KINDS.flatMap((kind) => walk(SCHEMAS[kind], kind, false));
const below = (half: string) => nodes.filter(({ path }) => path.split(".")[1] === half);

function walk(schema: Schema, path: string, inList: boolean): Node[] {
  return [
    { path, schema, inList },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => walk(field, `${path}.${name}`, inList)),
    ...(schema.items ? walk(schema.items, `${path}[]`, true) : []),
  ];
}

/** The paths of the nodes of which something does not hold. */
const failing = (of: Node[], holds: (node: Node) => boolean) =>
  of.filter((node) => !holds(node)).map(({ path }) => path);

test("each definition serves its kind by every version, alike, with status apart, in the category keyplane", () => {
  const files = readdirSync(join(ROOT, "crds"));
  expect(files).toHaveLength(KINDS.length);
  for (const file of files) {
    const { metadata, spec } = parse(readFileSync(join(ROOT, "crds", file), "utf8"));
    const { kind, plural, shortNames, categories } = spec.names;
    expect(isKind(kind)).toBe(true);
    expect(file).toBe(`${plural}.yaml`);
    expect(metadata.name).toBe(`${plural}.keyplane.dev`);
    expect(spec).toMatchObject({ group: "keyplane.dev", scope: isClusterScoped(kind) ? "Cluster" : "Namespaced" });
    expect(categories).toEqual(["keyplane"]);
    expect(shortNames).toHaveLength(1);
    const [v1alpha1, ...others] = spec.versions;
    expect(v1alpha1).toMatchObject({ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } });
    expect(others).toEqual([{ ...v1alpha1, name: "v1beta1", storage: false }]);
    const names = spec.versions.map(({ name }: { name: string }) => `keyplane.dev/${name}`);
    expect(names).toEqual(API_VERSIONS);
    const columns: { name: string; jsonPath: string }[] = spec.versions[0].additionalPrinterColumns;
    expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(["Ready", "Age"]));
    // Of several values that a path finds, the API server shows the first alone, as if there were no other.
    expect(columns.filter(({ jsonPath }) => /\[\*\]|\.\.|\[\d*:|,/.test(jsonPath))).toEqual([]);
  }
});

describe("every schema", () => {
  test("describes every field", () => {
    expect(
      failing(nodes, ({ path, schema }) => schema.description !== undefined || path.endsWith(".metadata")),
    ).toEqual([]);
  });

  test("bounds every list and every text, so that rules stay within the API server's cost budget", () => {
    const inBounds = ({ schema }: Node) =>
      schema.type === "array"
        ? schema.maxItems !== undefined && schema["x-kubernetes-list-type"] !== undefined
        : schema.type !== "string" ||
          schema.enum !== undefined ||
          schema.maxLength !== undefined ||
          schema.format !== undefined;
    expect(failing([...below("spec"), ...below("status")], inBounds)).toEqual([]);
  });

  test("c106: takes no NUL in any text, which no database keeps", () => {
    const takesNul = ({ pattern }: Schema) =>
      ["a\0b", "\0", "https://a\0b/c", "https://a/b\0c"].some((text) => new RegExp(pattern ?? "", "u").test(text));
    const isFree = ({ type, enum: values, format }: Schema) => type === "string" && !values && !format;
    expect(failing(below("spec"), ({ schema }) => !isFree(schema) || !takesNul(schema))).toEqual([]);
  });

  test("uses nothing that the offline validator does not know", () => {
    const known = new Set<string>([
      ...[
        "description",
        "type",
        "format",
        "default",
        "enum",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
      ],
      ...["minItems", "maxItems", "items", "required", "properties", "x-kubernetes-list-type"],
      ...["x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations"],
    ]);
    expect(failing(nodes, ({ schema }) => Object.keys(schema).every((keyword) => known.has(keyword)))).toEqual([]);
  });

  test("says in words what each pattern asks for", () => {
    expect(failing(nodes, ({ schema }) => schema.pattern === undefined || schema.pattern in PATTERNS)).toEqual([]);
  });

  test("requires no field that has a default, and keys its lists by fields that are always there", () => {
    const sound = ({ schema }: Node) => {
      const { required = [], properties = {}, items } = schema;
      const keys = schema["x-kubernetes-list-map-keys"] ?? [];
      return (
        required.every((field) => properties[field] !== undefined && properties[field].default === undefined) &&
        keys.every((field) => items?.required?.includes(field)) &&
        (schema["x-kubernetes-list-type"] !== "set" ||
          items?.type === "string" ||
          items?.["x-kubernetes-map-type"] === "atomic")
      );
    };
    expect(failing(nodes, sound)).toEqual([]);
  });

  test("has rules that an API server takes: one line of message, a field that exists, no transition inside a list", () => {
    const sound = ({ schema, inList }: Node) =>
      (schema["x-kubernetes-validations"] ?? []).every(({ rule, message, fieldPath = "" }) => {
        const fields = fieldPath.split(".").slice(1);
        const target = fields.reduce<Schema | undefined>((node, field) => node?.properties?.[field], schema);
        return (
          !message.includes("\n") &&
          message.length < 2048 &&
          target !== undefined &&
          !(inList && rule.includes("oldSelf"))
        );
      });
    expect(failing(nodes, sound)).toEqual([]);
  });
});

test("the schemas know the scopes, presets and dialects of the domain, no more and no less", () => {
  const at = (path: string) => nodes.find((node) => node.path === path)?.schema.enum;
  expect(at("PlatformKey.spec.scopes[]")).toEqual([...SCOPES]);
  expect(at("PlatformKey.spec.preset")).toEqual(Object.keys(PRESETS));
  expect(at("ModelGateway.spec.upstreams[].dialect")).toEqual([...DIALECTS]);
});

test("the lists have the limits of the specification", () => {
  const limit = (path: string) => nodes.find((node) => node.path === path)?.schema.maxItems;
  const limits = [
    "PlatformKey.spec.scopes",
    "PlatformKey.spec.libraryAccess.libraryRefs",
    "PlatformKey.spec.allowedModels",
  ];
  expect(limits.map(limit)).toEqual([8, 64, 64]);
  expect(["ModelGateway.spec.upstreams", "ModelGateway.spec.routes"].map(limit)).toEqual([16, 256]);
  expect(["PlatformTeam.spec.namespaces", "PlatformTeam.spec.members"].map(limit)).toEqual([256, 256]);
});
