import { rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { type StartedKubernetes, startKubernetes } from "../kubernetes.ts";
import { until } from "../until.ts";
import { openEtcd } from "./etcd.ts";

/** A control plane that test files of this process have one after the other; `close()` gives it back. */
export type LentKubernetes = Omit<StartedKubernetes, "kill" | "restart" | "compact">;

type KeptKubernetes = StartedKubernetes & {
  /** Brings it back to what it was when it was started. */
  restore(): Promise<void>;
  /** Whether its controller manager runs. */
  isManaged: boolean;
};

/** To start one takes as much of the processor as the tests of many a file. */
let idle: KeptKubernetes | undefined;

const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];
const CONTROLLER_MANAGER = "kube-controller-manager";
/** How long nothing changes in one that has done all that it does as it starts. Milliseconds. */
const CALM_MS = 300;

/**
 * Lends a control plane in which nothing is declared, with `crds/` installed and an audit log. Its API server is not to be
 * ended, nor is etcd's past to be removed: who does that starts one ({@link startKubernetes}).
 *
 * @param controllerManager whether it has garbage collection, ends of namespaces and aggregated roles
 */
export async function lendKubernetes({ controllerManager = true } = {}): Promise<LentKubernetes> {
  const kept = idle;
  idle = undefined;
  const plane = kept ?? (await start());
  await manage(plane, controllerManager);
  return {
    ...plane,
    async close() {
      if (idle !== undefined) return plane.close();
      try {
        await plane.restore();
        idle = plane;
      } catch (error) {
        await plane.close();
        throw error;
      }
    },
  };
}

async function manage(plane: KeptKubernetes, isManaged: boolean): Promise<void> {
  if (plane.isManaged === isManaged) return;
  await plane[isManaged ? "restart" : "kill"](CONTROLLER_MANAGER);
  plane.isManaged = isManaged;
}

async function start(): Promise<KeptKubernetes> {
  const plane = await startKubernetes({ controllerManager: true, audit: true });
  const etcd = openEtcd(plane.etcdSocket);
  const names = async (path: string) => {
    const { body } = await plane.request("GET", path);
    return (body as { items: { metadata: { name: string; namespace?: string } }[] }).items.map(
      ({ metadata: { name, namespace } }) => `${namespace ?? name}`,
    );
  };
  const areThere = async (path: string) => (await names(path)).sort().join() === NAMESPACES.join();
  await until("its namespaces and their accounts are there", async () => {
    return (await areThere("/api/v1/namespaces")) && (await areThere("/api/v1/serviceaccounts"));
  });
  await until("it has nothing more to do", async () => {
    const before = await etcd.revision();
    await new Promise((resolve) => setTimeout(resolve, CALM_MS));
    return (await etcd.revision()) === before;
  });
  const kept = await etcd.read();
  const started: KeptKubernetes = {
    ...plane,
    isManaged: true,
    async restore() {
      const changed = await etcd.restore(kept);
      if (changed.some((key) => key.startsWith("/registry/validatingadmissionpolic"))) {
        await policiesAreRead(plane);
        await etcd.restore(kept);
      }
      // Not from etcd, but as far as the API server has heard of it.
      await until("the API server knows", () => areThere("/api/v1/namespaces?resourceVersion=0"));
      if (changed.some((key) => key.startsWith("/registry/apiextensions.k8s.io/"))) {
        await plane.kindsServed();
        // It looks for kinds every 30 s.
        await manage(started, false);
        await rm(join(plane.address.folder, ".kube/cache"), { recursive: true, force: true });
      }
      if (plane.auditLog !== undefined) await truncate(plane.auditLog);
    },
    async close() {
      etcd.close();
      await plane.close();
    },
  };
  return started;
}

const POLICIES = "/apis/admissionregistration.k8s.io/v1";

/** Waits until the API server, which reads its admission policies every second, has done so: it denies what one more does. */
async function policiesAreRead({ request }: StartedKubernetes): Promise<void> {
  const metadata = { name: "lent" };
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
  const policy = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: "object.metadata.name != 'lent'" }],
  };
  const binding = { policyName: metadata.name, validationActions: ["Deny"] };
  const specs = { validatingadmissionpolicies: policy, validatingadmissionpolicybindings: binding };
  for (const [plural, spec] of Object.entries(specs)) {
    const { status, body } = await request("POST", `${POLICIES}/${plural}`, {
      body: JSON.stringify({ metadata, spec }),
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
  await until("the policy is in effect", async () => {
    const path = "/api/v1/namespaces/default/configmaps?dryRun=All";
    const { body } = await request("POST", path, { body: JSON.stringify({ metadata }) });
    return JSON.stringify(body).includes("ValidatingAdmissionPolicy 'lent'");
  });
}
