import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { downloadGoModule } from "../env/go/go-download.ts";
import { installKinds } from "../env/kubernetes/install-kinds.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { complaintsAbout, makeNamespaces, manifestsIn, openHelm } from "../infra/chart/helm.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/flux");
/** Flux's controllers, each with the kinds that it looks after. */
const CONTROLLERS = [
  {
    path: "github.com/fluxcd/source-controller",
    version: "v1.7.0",
    sum: "h1:/fBgS4CSmT5Jj/fjQDF92y+pC3gst1GJjgNSzY8Ff9I=",
  },
  {
    path: "github.com/fluxcd/helm-controller",
    version: "v1.4.0",
    sum: "h1:rkm8rmB6Na7eNc4pJOnvtXEaJ19iKluRtayHKjBxcUM=",
  },
  {
    path: "github.com/fluxcd/kustomize-controller",
    version: "v1.6.0",
    sum: "h1:13S+wqCQ44njSg59DNgm1qMqVkK6+0eoZs+jv4+EWCs=",
  },
];

describeOnKubernetes("examples/flux", (kubernetes) => {
  let home: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "keyplane-flux-"));
    for (const controller of CONTROLLERS) {
      await installKinds(kubernetes(), join(await downloadGoModule(controller), "config/crd/bases"));
    }
    await makeNamespaces(kubernetes(), "flux-system");
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it("is taken by the API server as Flux's kinds, without a warning", async () => {
    const files = (await readdir(EXAMPLE)).filter((file) => file.endsWith(".yaml"));
    expect(files).toHaveLength(3);
    for (const file of files) {
      expect(await complaintsAbout(kubernetes(), await readFile(join(EXAMPLE, file), "utf8"))).toEqual([]);
    }
  });

  it("refers to what it has, and gives the chart values that it takes", async () => {
    const text = await Promise.all(
      ["source", "helmrelease", "kustomizations"].map((name) => readFile(join(EXAMPLE, `${name}.yaml`), "utf8")),
    );
    const objects = text.flatMap(manifestsIn);
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    const referred = [...text.join("").matchAll(/kind: (\w+)\n\s+name: (\w+)$/gm)].map(
      ([, kind, name]) => `${kind}/${name}`,
    );
    expect(referred.length).toBeGreaterThan(3);
    expect(referred.filter((name) => !names.includes(name))).toEqual([]);
    const release = objects.find(({ kind }) => kind === "HelmRelease")?.spec as { readonly values: object };
    const values = join(home, "values.yaml");
    await writeFile(values, JSON.stringify(release.values));
    expect(await (await openHelm(home)).render("--values", values)).toContain("registry.example.com/keyplane");
  });
});
