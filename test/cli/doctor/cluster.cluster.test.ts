/** Faults that are planted in a cluster, and found by name. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { accountKubeconfig, startController, startControllerProcess } from "../../env/controller.ts";
import { migratedDatabase } from "../../env/database/engines.ts";
import { inNamespace } from "../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../env/kubernetes/lent.ts";
import { keyManifest, teamManifest } from "../../env/kubernetes/manifests.ts";
import { itByNight } from "../../env/night-test.ts";
import { until } from "../../env/until.ts";
import { keyplane } from "../up.ts";

const ROOT = join(import.meta.dirname, "../../..");
const RBAC = join(ROOT, "infra/rbac");

describe("keyplane doctor --kubeconfig", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  const kubectl = (...args: string[]) => kubernetes.kubectl(args);

  /** What is wrong with the cluster, or to be known, as `severity name: message: action`. */
  async function doctor(...flags: string[]): Promise<string[]> {
    const { out } = await keyplane(["doctor", "-o", "json", "--kubeconfig", kubernetes.kubeconfigPath, ...flags]);
    const { findings }: { findings: Finding[] } = JSON.parse(out);
    return findings
      .filter(({ severity }) => severity !== "ok")
      .map(({ severity, name, message, action }) => `${severity} ${name}: ${message}: ${action}`);
  }

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    await kubectl("apply", "--filename", join(RBAC, "controller.yaml"));
    await kubectl("create", "namespace", "dev");
    const world = inNamespace(kubernetes, "dev");
    await world.apply(teamManifest("research", "dev") + keyManifest("reader"));
  });
  afterAll(async () => {
    await database?.drop();
    await kubernetes?.close();
  });

  const NO_LEASE = expect.stringMatching(
    /^error leases: no controller has a Lease in keyplane-system: none runs there/,
  );
  /** While no controller has been there. */
  const PENDING = ["PlatformKey dev/reader", "PlatformTeam research"].map((title) =>
    expect.stringMatching(new RegExp(`^error declarations: ${title}: not ready: Pending: `)),
  );
  const SECRETS =
    "error rights: system:serviceaccount:keyplane-system:keyplane-controller may not get, list, watch, create, update, delete secrets in the namespace dev: kubectl apply -n dev -f infra/rbac/namespace.yaml # with the chart, dev in its keyNamespaces and helm upgrade instead";

  it("names each right that is missing, with the file to apply", async () => {
    const before = await doctor();
    expect(before).toContainEqual(SECRETS);
    expect(before).toContainEqual(
      expect.stringMatching(
        /^note rights: .* may not patch deployments in the namespace dev, which restartTargets need/,
      ),
    );
    // The files bind no other account than theirs.
    expect(await doctor("--controller-namespace", "other")).toContainEqual(
      expect.stringMatching(
        /may not get, list, .* secrets in the namespace dev: helm upgrade of the release in other, with dev in its keyNamespaces$/,
      ),
    );
    await kubectl("apply", "--namespace", "dev", "--filename", join(RBAC, "namespace.yaml"));
    expect(await doctor()).toEqual([NO_LEASE, ...PENDING]);
    await kubectl("delete", "clusterrolebinding", "keyplane-controller");
    const without = await until("the right is gone", async () => {
      const found = await doctor();
      return found.length > 3 && found;
    });
    expect(without).toContainEqual(
      "error rights: system:serviceaccount:keyplane-system:keyplane-controller may not get namespaces in every namespace: kubectl apply -f infra/rbac/controller.yaml",
    );
    await kubectl("apply", "--filename", join(RBAC, "controller.yaml"));
    await until("the right is back", async () => (await doctor()).length === 3);
  });

  it("asks for itself as the controller's own account, and notes what it may not see", async () => {
    expect(await doctor("--kubeconfig", await accountKubeconfig(kubernetes))).toEqual([
      ...["platformkeys", "platformteams", "platformkeypolicies", "modelgateways", "memorylibraries"].map((plural) =>
        expect.stringContaining(`note custom-resources: the CustomResourceDefinition ${plural}.keyplane.dev cannot be`),
      ),
      NO_LEASE,
      expect.stringMatching(/^note leases: cannot find out whether other controllers serve the same namespaces: /),
      ...PENDING,
    ]);
  });

  it("finds two controllers for one namespace, and one that was killed by the Lease that none renews", async (context) => {
    const kubeconfig = await accountKubeconfig(kubernetes);
    const encryptionKey = randomBytes(32).toString("base64");
    const controller = await startControllerProcess({ kubeconfig, databaseUrl: database.url, encryptionKey });
    await until("it leads", () => controller.lines.some((line) => line.includes("leads")));
    await kubectl("wait", "--for=condition=Ready", "platformkey/reader", "--namespace=dev", "--timeout=60s");
    expect(await doctor()).toEqual([]);
    // Of another installation: by one database it would depose the first. Its Lease is in the kubeconfig's namespace.
    const theirs = await migratedDatabase();
    context.onTestFinished(() => theirs.drop());
    const other = { kubeconfig: kubernetes.kubeconfigPath, databaseUrl: theirs.url, encryptionKey };
    const rival = await startController({ ...other, flags: ["--namespaces", "kube-public"] });
    await until("it leads, too", () => rival.lines.some((line) => line.includes("leads")));
    expect(await doctor("--database-url", database.url)).toContainEqual(
      expect.stringMatching(
        /^error leases: the controllers of the Leases keyplane-system\/keyplane-controller and default\/keyplane-controller-\w+ serve the same namespaces: /,
      ),
    );
    await rival.stop();
    controller.child.kill("SIGKILL");
    expect(await doctor()).toEqual([
      expect.stringMatching(/^error leases: no controller renews the Lease keyplane-system\/keyplane-controller: /),
    ]);
  });

  itByNight(
    "finds a definition that is of another version, with the command that mends it, and one that is missing",
    async () => {
      const crd = "crd/platformkeys.keyplane.dev";
      const patch = [0, 1].map((version) => {
        return {
          op: "remove",
          path: `/spec/versions/${version}/schema/openAPIV3Schema/properties/spec/properties/displayName`,
        };
      });
      await kubectl("patch", crd, "--type", "json", "--patch", JSON.stringify(patch));
      const apply = "kubectl apply --server-side --force-conflicts -f crds/";
      expect(await doctor()).toContainEqual(
        `error custom-resources: platformkeys.keyplane.dev is of another version than this build: it lacks .spec.displayName: ${apply}`,
      );
      const [, ...args] = apply.replace("crds/", join(ROOT, "crds")).split(" ");
      await kubectl(...args);
      expect(await doctor()).not.toContainEqual(expect.stringContaining("custom-resources"));
      await kubectl("delete", "crd", "memorylibraries.keyplane.dev");
      expect(await doctor()).toContainEqual(
        expect.stringMatching(/^error custom-resources: the cluster does not have memorylibraries\.keyplane\.dev: /),
      );
    },
  );

  it("says at once that a cluster has no installation, whether or not an earlier one has left its Lease", async () => {
    const finalizers = JSON.stringify({ metadata: { finalizers: null } });
    for (const object of [["platformkey/reader", "--namespace=dev"], ["platformteam/research"]]) {
      await kubectl("patch", ...object, "--type=merge", "--patch", finalizers);
    }
    await kubectl("delete", "--ignore-not-found", "--filename", join(ROOT, "crds"));
    const notInstalled = [
      expect.stringMatching(
        /^error custom-resources: Keyplane is not installed in this cluster: .*: helm upgrade --install /,
      ),
    ];
    await until("the kinds are gone", async () => expect(await doctor()).toEqual(notInstalled) ?? true);
    await kubectl("delete", "lease", "--all", "--namespace=keyplane-system");
    expect(await doctor()).toEqual(notInstalled);
    const [, ...found] = await doctor("--database-url", database.url);
    // Keys that nothing serves any more come beside it.
    expect(found.filter((one) => !one.startsWith("error unserved-keys: "))).toEqual(notInstalled);
  });

  it("finds a cluster that does not answer", async () => {
    const { code, out } = await keyplane(["doctor", "--kubeconfig", join(ROOT, "package.json"), "-o", "json"]);
    expect([code, JSON.parse(out).findings]).toMatchObject([1, [{ name: "cluster-connection", severity: "error" }]]);
  });
});
