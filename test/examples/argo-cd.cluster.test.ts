/** examples/argo-cd, as far as it can be looked at without Argo CD: its waves, its values, and its rule by Argo CD's Lua. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { read } from "../architecture/sources.ts";
import { findGlua } from "../env/glua.ts";

const run = promisify(execFile);
const README = read("examples/argo-cd/README.md");
const [keyplane, keys] = parseAllDocuments(read("examples/argo-cd/applications.yaml")).map((one) => one.toJS());

it("examples/argo-cd applies Keyplane in a wave before the keys, with values that the chart takes", () => {
  const wave = "argocd.argoproj.io/sync-wave";
  expect(Number(keyplane.metadata.annotations[wave])).toBeLessThan(Number(keys.metadata.annotations[wave]));
  expect(keyplane.spec.source.path).toBe("infra/chart");
  const isTaken = new Ajv({ strict: false, logger: false }).compile(JSON.parse(read("infra/chart/values.schema.json")));
  const defaults = parse(read("infra/chart/values.yaml"));
  const { image, ...values } = keyplane.spec.source.helm.valuesObject;
  expect(isTaken({ ...defaults, ...values, image: { ...defaults.image, ...image } })).toBe(true);
});

it("examples/argo-cd/README.md has a rule by which an Application is as healthy as it says", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-lua-"));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const [, block = ""] = /```yaml\n([\s\S]*?)```/.exec(README) ?? [];
  const rule = parse(parse(block)["resource.customizations"])["argoproj.io/Application"]["health.lua"];
  const healthOf = async (object: string) => {
    const file = join(folder, "health.lua");
    await writeFile(file, `local obj = ${object}\nlocal function f()\n${rule}\nend\nprint(f().status)`);
    return (await run(await findGlua(), [file])).stdout.trim();
  };
  expect(await healthOf('{ status = { health = { status = "Degraded" } } }')).toBe("Degraded");
  expect(await healthOf("{ status = {} }")).toBe("Progressing");
  expect(await healthOf("{}")).toBe("Progressing");
});
