import { describe, expect, it } from "vitest";
import { jsonSchema, specSchema } from "../../../domain/manifest/validation/json-schema.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { pluginSource } from "../../../scripts/pulumi-schema.ts";
import { KEY_SPEC } from "../../../server/management/keys/request/request-schemas.ts";
import { GATEWAY_SPEC } from "../../../server/management/objects/read-gateway.ts";
import { TEAM_SPEC } from "../../../server/management/objects/read-team.ts";
import { read } from "../../architecture/sources.ts";

/** A node of the schema, as far as it is looked at here. */
type Node = {
  type?: string;
  $ref?: string;
  description?: string;
  secret?: boolean;
  replaceOnChanges?: boolean;
  items?: Node;
  enum?: unknown[];
  properties?: Record<string, Node>;
  inputProperties?: Record<string, Node>;
  inputs?: Node;
  outputs?: Node;
};
type PackageSchema = {
  version: string;
  types: Record<string, Node>;
  resources: Record<string, Node>;
  functions: Record<string, Node>;
  provider: Node;
};

const schema: PackageSchema = JSON.parse(read("infra/pulumi/schema.json"));
const of = (kind: string) => schema.resources[`keyplane:index:${kind}`]?.inputProperties ?? expect.fail(`no ${kind}`);

/** The names of all fields below a node, by their paths; a named type is where it is referred to. */
function pathsOf(fields: Record<string, Node>, path = ""): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const here = `${path}${name}`;
    const inner = field.items ?? field;
    const [, part, token = ""] = inner.$ref?.match(/^#\/(types|resources)\/(.*)$/) ?? [];
    if (part === "resources" && schema.resources[token] !== undefined) return [here];
    const node = inner.$ref ? schema.types[token] : inner;
    if (node === undefined) return expect.fail(`${here} refers to ${inner.$ref}, which is not there`);
    return [here, ...pathsOf(node.properties ?? {}, `${here}.`)];
  });
}

/** Every place that a program can read or write. */
const all = [...Object.values(schema.resources), ...Object.values(schema.functions), schema.provider].flatMap(
  (member) =>
    [member.properties, member.inputProperties, member.inputs?.properties, member.outputs?.properties].map(
      (fields) => fields ?? {},
    ),
);
const named = [...Object.entries(schema.types), ...all.flatMap((fields) => Object.entries(fields))];

describe("the schema of the Pulumi package", () => {
  it("takes what the management API takes, under its names", () => {
    const beside = ["name", "team", "namespace", "deliver", "reason"];
    const rotation = ["rotation", "rotation.interval", "rotation.overlap", "rotation.trigger"];
    const given = (kind: string) => pathsOf(of(kind)).filter((path) => ![...beside, ...rotation].includes(path));
    const taken = (spec: Node) => pathsOf(spec.properties ?? {}).sort();
    expect(given("PlatformKey").sort()).toEqual(taken(KEY_SPEC));
    expect(given("ModelGateway").sort()).toEqual(taken(GATEWAY_SPEC));
    expect(given("PlatformTeam").sort()).toEqual(taken(TEAM_SPEC));
    expect(given("MemoryLibrary").sort()).toEqual(taken(jsonSchema(specSchema("MemoryLibrary"))));
    expect(pathsOf(of("PlatformKey"))).toEqual(expect.arrayContaining(["deliver", "reason", ...rotation]));
  });

  it("refers only to types that are there, and describes everything", () => {
    for (const fields of all) pathsOf(fields);
    const fields = [
      ...named,
      ...Object.values(schema.types).flatMap(({ properties = {} }) => Object.entries(properties)),
    ];
    expect(fields.filter(([, { description = "" }]) => description === "").map(([name]) => name)).toEqual([]);
  });

  it("marks as secrets the keys and the credentials of providers, and nothing else", () => {
    const fields = [
      ...named,
      ...Object.values(schema.types).flatMap(({ properties = {} }) => Object.entries(properties)),
    ];
    const secrets = fields.filter(([, { secret }]) => secret).map(([name]) => name);
    expect([...new Set(secrets)].sort()).toEqual(["credential", "previousSecret", "secret", "secrets"]);
  });

  it("replaces a resource when its name, its team or its namespace changes, and for nothing else", () => {
    const replacing = (kind: string) =>
      Object.entries(of(kind)).flatMap(([name, { replaceOnChanges }]) => (replaceOnChanges ? [name] : []));
    expect(replacing("PlatformTeam")).toEqual(["name"]);
    for (const kind of ["PlatformKey", "ModelGateway", "MemoryLibrary"]) {
      expect(replacing(kind)).toEqual(["name", "team", "namespace"]);
    }
  });

  it("has the package's version", () => {
    expect(schema.version).toBe(packageJson.version);
  });
});

describe("where the engine gets the provider", () => {
  it.each([
    [undefined, undefined],
    ["https://git.example.com/a/keyplane.git", undefined],
    ["github:a/keyplane", "github://api.github.com/a/keyplane"],
    [{ type: "git", url: "git+https://github.com/a/keyplane.git" }, "github://api.github.com/a/keyplane"],
    [{ type: "git", url: "git@github.com:a/keyplane.js.git" }, "github://api.github.com/a/keyplane.js"],
  ])("follows from the repository that package.json names: %j", (repository, pluginDownloadURL) => {
    expect(pluginSource({ repository })).toEqual(pluginDownloadURL === undefined ? {} : { pluginDownloadURL });
  });
});
