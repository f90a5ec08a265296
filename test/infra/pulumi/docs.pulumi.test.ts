import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { checkInputs } from "../../../infra/pulumi/provider/check.ts";
import { RESOURCES } from "../../../infra/pulumi/provider/resources.ts";
import { readValues } from "../../../infra/pulumi/provider/values.ts";
import schema from "../../../infra/pulumi/schema.json" with { type: "json" };
import { ROOT, read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";

const run = promisify(execFile);
/** Of keys without a cluster: kubernetes.cluster.test.ts has the others. */
const programs = blocksIn(read("docs/guides/pulumi.md"))
  .filter(({ language, heading }) => language === "ts" && heading !== "Keys of a cluster")
  .map(({ text }) => text);

/** In the engine's place: prints what a program registers. */
const MOCKS = `
  import { runtime } from "@pulumi/pulumi";
  await runtime.setMocks({
    newResource({ type, name, inputs }) {
      console.log(JSON.stringify({ type, name, inputs }));
      return { id: name, state: inputs };
    },
    call: ({ inputs }) => inputs,
  });
`;

type Registered = { readonly type: string; readonly name: string; readonly inputs: object };

describe("docs/guides/pulumi.md", () => {
  it.each(programs.map((text) => [text.split("\n").find((line) => line.includes("new ")), text]))(
    "shows a program that the provider takes: %s",
    async (_, program) => {
      const flags = ["--conditions=keyplane-source", "--input-type=module-typescript"];
      const { stdout } = await run(process.execPath, [...flags, "--eval", MOCKS + program], { cwd: ROOT });
      const registered: Registered[] = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const diagnostics = registered.flatMap(({ type, name: resource, inputs }) => {
        const kind = RESOURCES.get(type);
        const given = { urn: `urn:${resource}`, resource, news: readValues(inputs), olds: {} };
        return kind === undefined ? [] : checkInputs(kind, given).diagnostics;
      });
      expect(diagnostics).toEqual([]);
      expect(registered.length).toBeGreaterThan(0);
    },
  );
});

describeOnPulumi("pulumi package get-schema of the provider's program", ({ cli, path }) => {
  it("shows what the package has", async () => {
    const home = mkdtempSync(join(tmpdir(), "keyplane-schema-"));
    const provider = join(path.split(delimiter)[0] ?? "", "pulumi-resource-keyplane");
    const env = { PATH: path, HOME: home, PULUMI_HOME: home, PULUMI_SKIP_UPDATE_CHECK: "true" };
    try {
      const { stdout } = await run(cli, ["package", "get-schema", provider], { env, cwd: home, maxBuffer: 1 << 26 });
      const shown = JSON.parse(stdout);
      expect(shown).toMatchObject({ name: "keyplane", version: schema.version });
      for (const part of ["resources", "functions", "types"] as const) {
        expect(Object.keys(shown[part]).toSorted()).toEqual(Object.keys(schema[part]).toSorted());
      }
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});
