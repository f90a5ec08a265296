/** examples/kind, as far as it can be looked at without a container engine: its files and commands fit one another. */
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { read } from "../architecture/sources.ts";

const parse = (path: string) => parseAllDocuments(read(path)).map((document) => document.toJS({ maxAliasCount: 0 }));
const README = read("examples/kind/README.md");
const commands = [...README.matchAll(/^```\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block).join("");
const [values] = parse("examples/kind/values.yaml");
const [defaults] = parse("infra/chart/values.yaml");

it("examples/kind/cluster.yaml is a cluster of kind, which the commands name", () => {
  const [cluster] = parse("examples/kind/cluster.yaml");
  expect(cluster).toMatchObject({ apiVersion: "kind.x-k8s.io/v1alpha4", kind: "Cluster" });
  expect(new Set(cluster.nodes.map(({ role }: { role: string }) => role))).toEqual(
    new Set(["control-plane", "worker"]),
  );
  const named = [...README.matchAll(/--name (\S+?)`?(?:\s|$)/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set([cluster.name]));
});

it("examples/kind builds, loads and installs one image, that of the chart's version", () => {
  const image = `${values.image.repository}:${parse("infra/chart/Chart.yaml")[0].appVersion}`;
  expect(image).toBe(`keyplane:${packageJson.version}`);
  const named = [...commands.matchAll(/(?:--tag |docker-image |KEYPLANE_IMAGE=)(\S+)/g)].map(([, name]) => name);
  expect(named).toEqual([image, image, image, image]);
});

it("examples/kind makes each Secret that the chart and its PostgreSQL ask for, from the file of its name", () => {
  const made = [...commands.matchAll(/create secret generic (\S+) -n (\S+) --from-file=(?:(\S+)=)?(\S+)/g)].map(
    ([, name, namespace, key, file]) => `${namespace}/${name}/${key ?? file}`,
  );
  const { database, encryptionKey } = defaults;
  const asked = [
    `keyplane-system/${encryptionKey.existingSecret}/${encryptionKey.key}`,
    `keyplane-system/${database.existingSecret}/${database.key}`,
    ...[...JSON.stringify(parse("examples/kind/postgres.yaml")).matchAll(/"secretKeyRef":(\{[^}]*\})/g)].map(
      ([, text = ""]) => `keyplane-system/${JSON.parse(text).name}/${JSON.parse(text).key}`,
    ),
  ];
  expect(made.toSorted()).toEqual(asked.toSorted());
});

it("examples/kind installs where examples/kubernetes declares something", () => {
  const namespaces = parse("examples/kubernetes/namespaces.yaml").map(({ metadata }) => metadata.name);
  expect(values.keyNamespaces).toEqual(namespaces);
  const applied = [...commands.matchAll(/ -f (\S+)/g)].map(([, path = ""]) => path);
  expect(applied.length).toBeGreaterThan(5);
  for (const path of applied) expect(parse(path).length, path).toBeGreaterThan(0);
});

it("examples/kind gives the end-to-end suites the variables that they read", () => {
  const given = [...commands.matchAll(/KEYPLANE_E2E_\w+(?==)/g)].map(([name]) => name).toSorted();
  const suites = ["workload/cluster", "installation/site"].map((name) => read(`test/e2e/${name}.ts`)).join();
  const asked = [...suites.matchAll(/_VARIABLE = "(KEYPLANE_E2E_\w+)"/g)].map(([, name]) => name).toSorted();
  expect(given).toEqual(asked);
});
