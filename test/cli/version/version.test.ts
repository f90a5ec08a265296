import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { KINDS } from "../../../domain/kinds/kinds.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { MIN_SCHEMA_VERSION, SCHEMA_VERSION } from "../../../store/database/migrate/migrate.ts";
import { filesBelow, read } from "../../architecture/sources.ts";
import { keyplane } from "../up.ts";

const head = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();

/** What API servers serve of a kind, by the files that are applied to them. */
function servedVersions(kind: string): string[] {
  const definitions = filesBelow("crds", ".yaml").map((file) => parse(read(file)).spec);
  const { group, versions } = definitions.find(({ names }) => names.kind === kind);
  const served = versions.filter((version: { served: boolean }) => version.served);
  return served.map(({ name }: { name: string }) => `${group}/${name}`);
}

describe("keyplane version", () => {
  test.each([
    ["json", (text: string) => JSON.parse(text)],
    ["yaml", (text: string) => parse(text)],
  ])("shows programs what is built in: %s", async (format, parsed) => {
    const { code, out } = await keyplane(["version", "-o", format]);
    expect(code).toBe(0);
    expect(out, "no alias of YAML").not.toContain("&");
    expect(parsed(out)).toEqual({
      version: packageJson.version,
      commit: expect.stringMatching(new RegExp(`^${head}(-dirty)?$`)),
      node: process.versions.node,
      schema: { version: SCHEMA_VERSION, oldest: MIN_SCHEMA_VERSION },
      crds: KINDS.map((kind) => ({ kind, apiVersions: servedVersions(kind) })),
    });
  });

  test("shows people the same, a line each", async () => {
    const { out } = await keyplane(["version"]);
    expect(out).toMatch(new RegExp(`^keyplane ${RegExp.escape(packageJson.version)}\n`));
    for (const line of [
      new RegExp(`^commit {3}${head}(-dirty)?$`, "m"),
      /^node {5}\d+\./m,
      /^schema {3}\d+;/m,
      /^kind {5}PlatformKey, /m,
    ]) {
      expect(out).toMatch(line);
    }
  });

  test("takes no other form", async () => {
    expect((await keyplane(["version", "-o", "xml"])).code).toBe(2);
  });
});
