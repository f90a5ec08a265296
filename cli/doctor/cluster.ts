/** Checks of an installation on Kubernetes. They read with the rights of the person who asks, and change nothing. */
import { randomUUID } from "node:crypto";
import type { KubernetesCluster } from "../../controller/cluster/kubernetes/cluster.ts";
import { errorText } from "../../domain/error-text.ts";
import { systemClock } from "../../runtime/clock.ts";
import { leaderScopes } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { findAfterRestore } from "./after-restore.ts";
import { checkCustomResources } from "./custom-resources.ts";
import { findOtherClusters } from "./database-contents.ts";
import { checkDeclarations, listDeclarations } from "./declarations.ts";
import { type Finding, ok, wrong } from "./finding.ts";
import { judgeGatewayCredentials } from "./gateway-credentials.ts";
import { findRivals, judgeLeaderClocks, judgeLeases, type LeaseName, watchLease, watchLeases } from "./leases.ts";
import { findNeglected } from "./neglected-keys.ts";
import { checkRights } from "./rights.ts";
import { findOtherWriters } from "./status-writers.ts";

export type ClusterTarget = {
  /** Path of a kubeconfig; if undefined, KUBECONFIG, the user's own configuration or the pod's service account. */
  readonly kubeconfig: string | undefined;
  /** Namespaces that the controller serves; null for all. */
  readonly namespaces: readonly string[] | null;
  readonly controllerNamespace: string;
  /** ServiceAccount that the controllers run as, in that namespace. */
  readonly controllerAccount: string;
  /** Name of the Lease for the controllers' leadership, in that namespace. */
  readonly leaseName: string;
  /** True if the cluster is also to be compared with the database, one of which was restored. */
  readonly isRestored: boolean;
};

/**
 * Checks the cluster.
 *
 * @param store database of the installation; undefined if none is given or it cannot be used
 */
export async function checkCluster(target: ClusterTarget, store: Store | undefined): Promise<Finding[]> {
  // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
  const { openKubernetesCluster } = await import("../../controller/cluster/kubernetes/cluster.ts");
  let cluster: KubernetesCluster;
  try {
    cluster = await openKubernetesCluster({
      kubeconfig: target.kubeconfig,
      namespaces: target.namespaces,
      clock: systemClock,
      random: Math.random,
      log: () => {},
      fieldManager: "keyplane-doctor",
      identity: randomUUID(),
    });
  } catch (error) {
    const step =
      "give --kubeconfig a file whose current context reaches the cluster: kubectl get namespace kube-system";
    return [wrong("cluster-connection", errorText(error), step)];
  }
  try {
    return [ok("cluster-connection", `the cluster ${cluster.uid} answers`), ...(await check(cluster, target, store))];
  } finally {
    await cluster.close();
  }
}

async function check(cluster: KubernetesCluster, target: ClusterTarget, store: Store | undefined): Promise<Finding[]> {
  const { controllerNamespace, controllerAccount, leaseName, namespaces, isRestored } = target;
  const { api, uid } = cluster;
  const isSelf = cluster.podNamespace === controllerNamespace;
  const account = { namespace: controllerNamespace, name: controllerAccount, isSelf };
  const scopes = store === undefined ? [] : await leaderScopes(store.db);
  const known = [...new Set([uid, ...scopes])];
  const leases = await watchLeases(cluster, { namespace: controllerNamespace, name: leaseName }, known);
  const listed = await listDeclarations(api, namespaces);
  // The Leases of controllers with namespaces of their own are known from the database alone.
  const isOurs = (lease: LeaseName) => store === undefined && lease.namespace === controllerNamespace;
  const hasNoKind = listed.declared.length === 0 && listed.unread.length === 0;
  const hasNoController = leases.every(({ state }) => state === "absent" || state === "not renewed");
  // What each part of an installation lacks would be many findings, whose steps make one that Helm does not take over.
  const findings =
    hasNoKind && hasNoController
      ? [notInstalled(controllerNamespace)]
      : [
          ...(await checkCustomResources(api)),
          ...(await checkRights(api, account, namespaces)),
          ...judgeLeases(controllerNamespace, leases),
          ...judgeLeaderClocks(leases),
          ...(await findRivals(cluster, leases, known)),
          ...(await findOtherWriters(
            (lease) => watchLease(api, { ...lease, served: null }),
            listed.declared,
            leases,
            isOurs,
          )),
          ...checkDeclarations(listed),
        ];
  // The store, where it is given, has been asked, and knows more.
  if (store === undefined) {
    const gateways = listed.declared.find(({ kind }) => kind === "ModelGateway")?.objects ?? [];
    return [...findings, ...judgeGatewayCredentials(gateways)];
  }
  findings.push(...(await findOtherClusters(cluster, store.db)));
  findings.push(...(await findNeglected(cluster, store.db, controllerNamespace, leases)));
  if (!isRestored) return findings;
  await cluster.watch(() => {}, new AbortController().signal);
  return [...findings, ...(await findAfterRestore(cluster, store.db))];
}

function notInstalled(namespace: string): Finding {
  const message = `Keyplane is not installed in this cluster: it has none of the kinds, and no controller renews a Lease in ${namespace}`;
  const step = `helm upgrade --install keyplane infra/chart -n ${namespace} -f values.yaml, or the lines of docs/operations/without-helm.md; give --kubeconfig FILE for another cluster`;
  return wrong("custom-resources", message, step);
}
