/**
 * examples/argo-cd, as far as it can be looked at without Argo CD: its waves, its values, its rule by Argo CD's Lua, and its
 * differences by what it asks the API server for them.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createNamespaces } from "../admission/apply.ts";
import { read } from "../architecture/sources.ts";
import { manifest } from "../domain/manifest/read.ts";
import { findGlua } from "../env/glua.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";

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

describeOnKubernetes("examples/argo-cd", (kubernetes) => {
  const metadata = (name: string) => ({ name, namespace: "argo-differences" });
  const budgets = "[{ tokens: 1000000, period: Month }]";
  const upstream = "{ name: u, dialect: openai, baseURL: 'https://x.example', credentialRef: { name: s } }";
  const route = "{ model: m, routeID: r, upstream: u, upstreamModel: m }";
  it.each<[string, string, string]>([
    [
      "routes without fallbacks",
      "routes",
      manifest("ModelGateway", `{ upstreams: [${upstream}], routes: [${route}] }`, metadata("g")),
    ],
    [
      "a budget without a time zone",
      "budgets",
      manifest("PlatformKey", `{ preset: MCPReadOnly, budgets: ${budgets} }`, metadata("k")),
    ],
    [
      "a webhook without its data key",
      "webhooks",
      manifest(
        "PlatformTeam",
        "{ namespaces: [argo-differences], webhooks: [{ url: 'https://x.example', events: [key.revoked], secretRef: { namespace: argo-differences, name: s } }] }",
        { name: "argo-differences" },
      ),
    ],
  ])("differs in nothing by a server-side diff, and by its files in lists: %s", async (_what, list, text) => {
    expect(keys.metadata.annotations["argocd.argoproj.io/compare-options"]).toBe("ServerSideDiff=true");
    await createNamespaces(kubernetes(), ["argo-differences"]);
    const live = JSON.parse(await kubernetes().kubectl(["apply", "--output=json", "--filename", "-"], text));
    const args = ["--server-side", "--dry-run=server", "--force-conflicts", "--field-manager=argocd-controller"];
    const predicted = await kubernetes().kubectl(["apply", ...args, "--output=json", "--filename", "-"], text);
    expect(JSON.parse(predicted).spec).toEqual(live.spec);
    expect(live.spec[list]).not.toEqual(parse(text).spec[list]);
    await kubernetes().kubectl(["delete", "--filename", "-"], text);
  });
});
