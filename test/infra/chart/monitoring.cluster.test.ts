import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { downloadGoModule } from "../../env/go/go-download.ts";
import { installKinds } from "../../env/kubernetes/install-kinds.ts";
import { describeOnKubernetes } from "../../env/kubernetes/of-run.ts";
import { CHART, complaintsAbout, type Helm, type Manifest, makeNamespaces, manifestsIn, openHelm } from "./helm.ts";

const OPERATOR = {
  path: "github.com/prometheus-operator/prometheus-operator",
  version: "v0.85.0",
  sum: "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
};
const NAMES = ["servicemonitors", "prometheusrules"];
const ENABLED = ["serviceMonitor", "rules", "dashboard"].flatMap((name) => ["--set", `metrics.${name}.enabled=true`]);
const KINDS = ["ServiceMonitor", "PrometheusRule"];
/** Of a cluster that has them. */
const KNOWN = KINDS.flatMap((kind) => ["--api-versions", `monitoring.coreos.com/v1/${kind}`]);

describeOnKubernetes("monitoring by the chart", (kubernetes) => {
  let home: string;
  let helm: Helm;

  const ofMonitoring = async (...args: string[]) =>
    manifestsIn(await helm.render(...ENABLED, ...KNOWN, ...args)).filter(
      ({ kind, metadata }) => KINDS.includes(kind) || metadata.name === "keyplane-dashboard",
    );

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "keyplane-helm-"));
    helm = await openHelm(home);
    const crds = join(await downloadGoModule(OPERATOR), "example/prometheus-operator-crd");
    await installKinds(kubernetes(), ...NAMES.map((name) => join(crds, `monitoring.coreos.com_${name}.yaml`)));
    await makeNamespaces(kubernetes());
  });

  afterAll(async () => {
    await rm(home, { recursive: true, force: true });
  });

  it("is taken by the API server as the Prometheus Operator's kinds, without a warning", async () => {
    const objects = await ofMonitoring("--set", "metrics.rules.runbooks=https://docs.example.com/runbooks");
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
      ...["ConfigMap", "PrometheusRule", "ServiceMonitor", "ServiceMonitor"],
    ]);
    const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
    expect(await complaintsAbout(kubernetes(), text)).toEqual([]);
  });

  it("has the alerts of the file, each with its runbook where those are published", async () => {
    const rules = async (...args: string[]) =>
      (await ofMonitoring(...args)).find(({ kind }) => kind === "PrometheusRule")?.spec;
    const text = await readFile(join(CHART, "files/alerts.yaml"), "utf8");
    expect(await rules()).toEqual(parse(text.replaceAll('namespace=~".*"', 'namespace="keyplane-system"')));
    const linked = JSON.stringify(await rules("--set", "metrics.rules.runbooks=https://docs.example.com/runbooks"));
    expect(linked).toContain('"runbook_url":"https://docs.example.com/runbooks#keyplanenotserving"');
  });

  it("has the dashboard of the file, under the label that Grafana's sidecar looks for", async () => {
    const [map] = (await ofMonitoring()).filter(({ kind }) => kind === "ConfigMap");
    expect(map?.metadata.labels).toMatchObject({ grafana_dashboard: "1" });
    const text = await readFile(join(CHART, "files/dashboard.json"), "utf8");
    expect(map?.data).toEqual({ "keyplane.json": text.trimEnd() });
  });

  it("scrapes the Services of both components at a port that they have", async () => {
    const rendered = manifestsIn(await helm.render(...ENABLED, ...KNOWN));
    for (const monitor of rendered.filter(({ kind }) => kind === "ServiceMonitor")) {
      const spec = monitor.spec as MonitorSpec;
      const found = rendered.filter(
        (object) =>
          object.kind === "Service" &&
          Object.entries(spec.selector.matchLabels).every(([name, value]) => object.metadata.labels?.[name] === value),
      );
      expect(found.map(({ metadata }) => metadata.labels?.[spec.jobLabel])).toContain("keyplane");
      const ports = found.flatMap((service) => portsOf(service));
      expect(spec.endpoints.map(({ port }) => ports.filter((name) => name === port))).toEqual([["admin"]]);
    }
  });

  it("relabels what it scrapes, as the API server takes it", async () => {
    const relabelings = [{ sourceLabels: ["__meta_kubernetes_pod_node_name"], targetLabel: "node" }];
    const metricRelabelings = [{ sourceLabels: ["__name__"], regex: "nodejs_.*", action: "drop" }];
    const settings = { scrapeTimeout: "10s", relabelings, metricRelabelings };
    const objects = await ofMonitoring("--set-json", `metrics.serviceMonitor=${JSON.stringify(settings)}`);
    const monitors = objects.filter(({ kind }) => kind === "ServiceMonitor");
    expect(monitors.map(({ spec }) => (spec as MonitorSpec).endpoints)).toMatchObject([[settings], [settings]]);
    const text = monitors.map((object) => JSON.stringify(object)).join("\n---\n");
    expect(await complaintsAbout(kubernetes(), text)).toEqual([]);
  });

  it("leaves out kinds that the cluster does not have, unless it is to be rendered without one", async () => {
    const kindsOf = async (...args: string[]) =>
      new Set(manifestsIn(await helm.render(...ENABLED, ...args)).map(({ kind }) => kind));
    const without = await kindsOf();
    expect(KINDS.filter((kind) => without.has(kind))).toEqual([]);
    const always = await kindsOf("--set", "metrics.renderMode=alwaysRender");
    expect(KINDS.filter((kind) => always.has(kind))).toEqual(KINDS);
  });

  it("is not there unless it is asked for", async () => {
    const kinds = manifestsIn(await helm.render()).map(({ kind }) => kind);
    expect(kinds.filter((kind) => KINDS.includes(kind) || kind === "ConfigMap")).toEqual([]);
  });
});

type MonitorSpec = {
  readonly jobLabel: string;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly port: string }[];
};

function portsOf({ spec }: Manifest): string[] {
  return (spec as { readonly ports: readonly { readonly name: string }[] }).ports.map(({ name }) => name);
}
