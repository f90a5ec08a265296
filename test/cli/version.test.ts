import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { KINDS } from "../../domain/manifest/kinds.ts";
import packageJson from "../../package.json" with { type: "json" };
import { MIN_SCHEMA_VERSION, SCHEMA_VERSION } from "../../store/database/migrate.ts";
import { keyplane } from "./up.ts";

describe("keyplane version", () => {
  test("tells programs what is built in", async () => {
    const { code, out } = await keyplane(["version", "-o", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      version: packageJson.version,
      commit: null,
      node: process.versions.node,
      schema: { version: SCHEMA_VERSION, oldest: MIN_SCHEMA_VERSION },
      crds: KINDS.map((kind) => ({ kind, apiVersions: ["keyplane.dev/v1alpha1", "keyplane.dev/v1beta1"] })),
    });
  });

  test("tells people the same, a line each", async () => {
    const { out } = await keyplane(["version"]);
    expect(out).toMatch(new RegExp(`^keyplane ${RegExp.escape(packageJson.version)}\n`));
    for (const line of [/^commit {3}unknown$/m, /^node {5}\d+\./m, /^schema {3}\d+;/m, /^kind {5}PlatformKey, /m]) {
      expect(out).toMatch(line);
    }
  });

  test("tells it as YAML too", async () => {
    const [yaml, json] = [await keyplane(["version", "-o", "yaml"]), await keyplane(["version", "-o", "json"])];
    expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
  });

  test("takes no other form", async () => {
    expect((await keyplane(["version", "-o", "xml"])).code).toBe(2);
  });
});
