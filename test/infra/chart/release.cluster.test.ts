import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LentKubernetes, lendKubernetes } from "../../env/kubernetes/lent.ts";
import { keyManifest } from "../../env/kubernetes/manifests.ts";
import { until } from "../../env/until.ts";
import { CHART, type Helm, openHelm, UNCHECKED } from "./helm.ts";

const NAMESPACE = "keyplane-system";
const CHECKED = ["keyplane", CHART, "--namespace", NAMESPACE];
const RELEASE = [...CHECKED, UNCHECKED];
/** For an upgrade that is about no definition: they stay, and take both Helm and the API server most of their time. */
const NO_CRDS = ["--no-hooks", "--set", "crds.install=false"];
const VALUES = (name: string) => ["--values", join(CHART, `examples/values-${name}.yaml`)];
const MONITORED = "metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true";
const KEY_CRD = "platformkeys.keyplane.dev";

/** The tests go on from one another: a release from its installation to its end, where no kubelet runs its pods. */
describe("A release of infra/chart", () => {
  let kubernetes: LentKubernetes;
  let home: string;
  let helm: Helm;

  const kubectl = (...args: string[]) => kubernetes.kubectl(args);
  const field = (what: string, path: string, namespace = NAMESPACE) =>
    kubectl("get", ...what.split("/"), "--namespace", namespace, `--output=jsonpath=${path}`);
  const ours = async (kinds: string) =>
    (
      await kubectl(
        "get",
        kinds,
        "--namespace",
        NAMESPACE,
        "--selector=app.kubernetes.io/name=keyplane",
        "--output=name",
      )
    )
      .trim()
      .split("\n")
      .filter((name) => name !== "")
      .sort();

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "keyplane-helm-"));
    kubernetes = await lendKubernetes();
    helm = await openHelm(home, kubernetes);
    for (const name of [NAMESPACE, "team-a", "team-b"]) await kubectl("create", "namespace", name);
  });

  afterAll(async () => {
    await kubernetes?.close();
    if (home !== undefined) await rm(home, { recursive: true });
  });

  it("begins with the migration, and with nothing else until that has ended", async () => {
    const { code, stderr } = await helm.runHelm("install", ...CHECKED, "--take-ownership", "--timeout=2s");
    expect(code).toBe(1);
    expect(stderr).toContain("pre-install");
    expect(await ours("all,serviceaccounts,roles,networkpolicies,poddisruptionbudgets")).toEqual([
      "job.batch/keyplane-migration",
    ]);
    const job = "job/keyplane-migration";
    // What the release brings cannot be there before it.
    expect(await field(job, "{.spec.template.spec.serviceAccountName}")).toBe("");
    expect(await field(job, "{.spec.template.spec.automountServiceAccountToken}")).toBe("false");
    await helm.helm("uninstall", "keyplane", "--namespace", NAMESPACE);
  });

  it("leaves alone CRDs that were applied without it, says so, and takes them over when a flag says so", async () => {
    const refused = await helm.runHelm("install", ...RELEASE, ...VALUES("small"), "--no-hooks");
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("invalid ownership metadata");
    const four = ["--set", "server.replicas=4"];
    await helm.helm("install", ...RELEASE, ...VALUES("small"), ...four, "--no-hooks", "--take-ownership");
    expect(await field(`crd/${KEY_CRD}`, "{.metadata.labels.app\\.kubernetes\\.io/managed-by}")).toBe("Helm");
    expect(await ours("deployments,services,poddisruptionbudgets")).toEqual([
      "deployment.apps/keyplane-controller",
      "deployment.apps/keyplane-server",
      "poddisruptionbudget.policy/keyplane-controller",
      "poddisruptionbudget.policy/keyplane-server",
      "service/keyplane-controller-metrics",
      "service/keyplane-server",
      "service/keyplane-server-metrics",
    ]);
  });

  it("takes a fifth of what a Secret holds, which is where Helm keeps it", async () => {
    const size = (await field("secret/sh.helm.release.v1.keyplane.v1", "{.data.release}")).length * (3 / 4);
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThan(1_048_576 / 5);
  });

  it("is upgraded to an autoscaler, which has the number of servers to itself and begins with that of before", async () => {
    expect(await field("deployment/keyplane-server", "{.spec.replicas}")).toBe("4");
    await helm.helm("upgrade", ...RELEASE, ...VALUES("production"), ...NO_CRDS);
    expect(await field("hpa/keyplane-server", "{.spec.minReplicas} {.spec.maxReplicas}")).toBe("3 6");
    expect(await field("deployment/keyplane-server", "{.spec.replicas}")).toBe("4");
    await kubectl("scale", "deployment/keyplane-server", "--namespace", NAMESPACE, "--replicas=5");
    const more = ["--set", "image.tag=next,server.autoscaling.minReplicas=6"];
    await helm.helm("upgrade", ...RELEASE, ...VALUES("production"), ...NO_CRDS, ...more);
    expect(await field("deployment/keyplane-server", "{.spec.replicas}")).toBe("5");
    // Which would turn the autoscaler off.
    await kubectl("scale", "deployment/keyplane-server", "--namespace", NAMESPACE, "--replicas=0");
    await helm.helm("upgrade", ...RELEASE, ...VALUES("production"), ...NO_CRDS, "--set", MONITORED);
    expect(await field("deployment/keyplane-server", "{.spec.replicas}")).toBe("3");
  });

  it("has what its values ask for: an ingress, and the rights in each namespace of keys", async () => {
    expect(await ours("ingresses")).toEqual(["ingress.networking.k8s.io/keyplane-server"]);
    for (const namespace of ["team-a", "team-b"]) {
      expect(await field("role/keyplane-keys", "{.rules[0].resources}", namespace)).toBe('["secrets"]');
    }
  });

  it("lets those who may view or edit a namespace read and declare keys there, and no policies or teams", async () => {
    for (const role of ["view", "edit"]) {
      await kubectl("create", "rolebinding", role, `--clusterrole=${role}`, `--user=${role}er`, "--namespace=team-a");
    }
    const may = async (user: string, verb: string, kind: string, ...more: string[]) => {
      const who = [`--as=${user}`, "--namespace=team-a", ...more];
      return (await kubernetes.runKubectl(["auth", "can-i", verb, `${kind}.keyplane.dev`, ...who])).stdout.trim();
    };
    await until("the roles are aggregated", async () => (await may("editer", "create", "platformkeys")) === "yes");
    expect(await may("editer", "get", "memorylibraries")).toBe("yes");
    expect(await may("viewer", "get", "platformkeys")).toBe("yes");
    expect(await may("viewer", "create", "platformkeys")).toBe("no");
    for (const kind of ["platformteams", "platformkeypolicies"]) {
      expect(await may("editer", "update", kind)).toBe("no");
    }
    expect(await may("editer", "patch", "platformkeys", "--subresource=status")).toBe("no");
  });

  it("says of monitoring, which it has been upgraded to, what the cluster lacks, and is there without it", async () => {
    expect(await helm.helm("get", "notes", "keyplane", "--namespace", NAMESPACE)).toContain(
      "does not have the kinds: ServiceMonitor, PrometheusRule",
    );
  });

  it("says what to do next, with manifests that the API server takes", async () => {
    const notes = await helm.helm("get", "notes", "keyplane", "--namespace", NAMESPACE);
    const [, manifests = ""] = /<<'EOF'\n([\s\S]*?)\n +EOF/.exec(notes) ?? [];
    const indented = manifests.replaceAll(/^ {5}/gm, "");
    const applied = await kubernetes.kubectl(["apply", "--dry-run=server", "--filename=-"], indented);
    expect(applied).toContain("platformteam.keyplane.dev/first created");
    expect(applied).toContain("platformkey.keyplane.dev/first created");
    expect(notes).toContain("clients reach it at https://keyplane.example.com");
    expect(notes).toContain("--controller-namespace keyplane-system");
  });

  it("offers no first team beside one that is there", async () => {
    const { items } = JSON.parse(await kubernetes.kubectl(["get", "platformteams", "-o", "json"]));
    expect(items).toEqual([]);
    const team = {
      apiVersion: "keyplane.dev/v1alpha1",
      kind: "PlatformTeam",
      metadata: { name: "own" },
      spec: { namespaces: ["team-a"] },
    };
    await kubernetes.kubectl(["apply", "--filename=-"], JSON.stringify(team));
    await helm.helm(
      "upgrade",
      ...RELEASE,
      ...VALUES("production"),
      ...NO_CRDS,
      "--set",
      "image.tag=next,database.ca.existingConfigMap=own",
    );
    const notes = await helm.helm("get", "notes", "keyplane", "--namespace", NAMESPACE);
    expect(notes).toContain("kubectl get platformteams,platformkeys");
    expect(notes).not.toContain("EOF");
    expect(notes).toContain("doctor --database-url URL --database-ca-file FILE --kubeconfig FILE");
    await kubernetes.kubectl(["delete", "platformteam", "own"]);
  });

  it("gives its servers the namespace's own account again once they are to have no other", async () => {
    const account = () => field("deployment/keyplane-server", "{.spec.template.spec.serviceAccountName}");
    const upgrade = ["upgrade", ...RELEASE, ...VALUES("production"), ...NO_CRDS];
    await helm.helm(...upgrade, "--set", "server.serviceAccount.create=true");
    expect(await account()).toBe("keyplane-server");
    await helm.helm(...upgrade);
    expect(await account()).toBe("default");
  });

  it("goes beside another one, of its own name too, only where the policies of each know the controller of the other", async () => {
    const second = ["second", CHART, "--namespace", "team-b", ...NO_CRDS, UNCHECKED];
    const naming = (account: string) => ["--set", `admissionPolicies.controllers={system:serviceaccount:${account}}`];
    const unknownThere = await helm.runHelm("install", ...second, ...naming(`${NAMESPACE}:keyplane-controller`));
    expect(unknownThere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `release keyplane, of system:serviceaccount:${NAMESPACE}:keyplane-controller, would deny what this one's controller writes: name system:serviceaccount:team-b:second-keyplane-controller in its admissionPolicies.controllers`,
      ),
    });
    const without = await helm.runHelm("install", ...second, "--set", "admissionPolicies.enabled=false");
    expect(without).toMatchObject({ code: 1, stderr: unknownThere.stderr });
    const namesake = ["keyplane", ...second.slice(1), "--set", "fullnameOverride=second"];
    expect(await helm.runHelm("install", ...namesake)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("name system:serviceaccount:team-b:second-controller in its"),
    });
    const first = ["upgrade", ...RELEASE, ...VALUES("production"), ...NO_CRDS, "--set", "image.tag=next"];
    await helm.helm(...first, ...naming("team-b:second-keyplane-controller"));
    const unknownHere = await helm.runHelm("install", ...second);
    expect(unknownHere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `what the controller of release keyplane writes would be denied: name system:serviceaccount:${NAMESPACE}:keyplane-controller in admissionPolicies.controllers`,
      ),
    });
    await helm.helm("install", ...second, ...naming(`${NAMESPACE}:keyplane-controller`));
    expect((await helm.runHelm(...first)).stderr).toContain(
      "would be denied: name system:serviceaccount:team-b:second-",
    );
    await helm.helm("uninstall", "second", "--namespace", "team-b");
    // Helm changes definitions only where the release had them before.
    await helm.helm("upgrade", ...RELEASE, ...VALUES("production"), "--no-hooks", "--set", "image.tag=next");
  });

  it("leaves the old version at work where the migration of the new one does not end", async () => {
    const upgrade = ["upgrade", ...RELEASE, ...VALUES("production"), "--set", "image.tag=broken", "--timeout=2s"];
    const { code, stderr } = await helm.runHelm(...upgrade);
    expect(code).toBe(1);
    expect(stderr).toContain("pre-upgrade");
    expect(await field("deployment/keyplane-server", "{.spec.template.spec.containers[0].image}")).toBe(
      "keyplane:next",
    );
  });

  it("upgrades the CRDs with it", async () => {
    const old = join(home, "chart");
    await cp(CHART, old, { recursive: true });
    const file = join(old, "files/crds/platformkeys.yaml");
    const text = await readFile(file, "utf8");
    const changed = text.replaceAll("displayName", "shownName");
    expect(changed).not.toBe(text);
    await writeFile(file, changed);
    const properties = () =>
      field(`crd/${KEY_CRD}`, "{.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties}");
    const before = await properties();
    await helm.helm("upgrade", "keyplane", old, "--namespace", NAMESPACE, "--no-hooks", UNCHECKED);
    expect(await properties()).toContain("shownName");
    await helm.helm("upgrade", ...RELEASE, "--no-hooks");
    expect(await properties()).toBe(before);
  });

  it("goes without the CRDs and what is declared by them, and can be installed once more", async () => {
    await kubernetes.kubectl(["apply", "--namespace", "team-a", "--filename=-"], keyManifest("reader"));
    await helm.helm("uninstall", "keyplane", "--namespace", NAMESPACE, "--wait");
    expect(await ours("deployments,services,serviceaccounts,roles,networkpolicies,poddisruptionbudgets")).toEqual([]);
    expect(await field(`crd/${KEY_CRD}`, "{.metadata.deletionTimestamp}")).toBe("");
    await helm.helm("install", ...RELEASE, "--no-hooks");
    expect(await field("platformkey/reader", "{.metadata.name}", "team-a")).toBe("reader");
  });
});
