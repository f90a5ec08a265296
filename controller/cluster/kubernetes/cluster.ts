/** Cluster of production: a Kubernetes API server. */
import type { LogLine } from "../../../runtime/log-line.ts";
import type { Cluster } from "../port.ts";
import { eventLine } from "../titles.ts";
import { type ApiClient, createApiClient } from "./api/api-client.ts";
import { connect } from "./api/connection.ts";
import { serviceAccountNamespace } from "./api/service-account.ts";
import { createEvent, REPORTER } from "./events.ts";
import { readClusterIdentity } from "./identity.ts";
import { namespaceTerminates } from "./namespace.ts";
import { createSecrets } from "./secrets/secrets.ts";
import { WatchedCluster } from "./watched-cluster.ts";
import { workloadRestarter } from "./workloads.ts";

export type KubernetesClusterOptions = {
  /** File; if undefined, KUBECONFIG, the user's own configuration or the pod's service account. */
  readonly kubeconfig: string | undefined;
  /** Namespaces that are served; null for all. */
  readonly namespaces: readonly string[] | null;
  /** Clock: `now` in milliseconds since the epoch, `monotonic` in milliseconds. */
  readonly clock: { now(): number; monotonic(): number };
  /** Returns a number that is uniform in [0, 1). */
  readonly random: () => number;
  readonly log: LogLine;
  readonly fieldManager: string;
  /** Identity of this process, unlike any other's: the reporter of its events. */
  readonly identity: string;
  /** Returns the name of the controller that its statuses name as their writer; undefined if they name none. */
  readonly controllerName?: (cluster: LedCluster) => string;
  /** Called with the status of each answer of the API server, and with null for each request without one. */
  readonly onAnswer?: (method: string, status: number | null) => void;
};

/** Part of a cluster that the Lease of a controller depends on. */
export type LedCluster = Pick<KubernetesCluster, "uid" | "namespaces" | "ownNamespace">;

export type KubernetesCluster = Cluster & {
  /** Client for the leader election, which needs the same connections. */
  readonly api: ApiClient;
  /** Namespace of the Lease: that of our ServiceAccount, else the namespace that the configuration names. */
  readonly ownNamespace: string | undefined;
  /** Namespace that Keyplane runs in: that of our ServiceAccount; undefined for a person. */
  readonly podNamespace: string | undefined;
  /** Times at which each watch last heard of the server, on the monotonic clock. */
  readonly heardAt: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

/**
 * Connects to a cluster. The functions of the result need no `this`: a caller may replace one of them by its own.
 *
 * @throws Error if no cluster is configured, or it cannot be reached
 */
export async function openKubernetesCluster(options: KubernetesClusterOptions): Promise<KubernetesCluster> {
  const { namespaces, clock, random, log, fieldManager, onAnswer } = options;
  const connection = connect(options.kubeconfig, clock);
  const api = createApiClient({ connection, random, log, ...(onAnswer === undefined ? {} : { onAnswer }) });
  const identity = await readClusterIdentity(api, log).catch((error: unknown) => {
    api.close();
    throw error;
  });
  const accountNamespace = await serviceAccountNamespace(api);
  api.guardWrites(() => !identity.isReplaced(), "another cluster answers than the one this was started on");
  const ownNamespace = accountNamespace ?? connection.namespace;
  const closing = new AbortController();
  const watched = new WatchedCluster({
    ...{ api, identity, namespaces, clock, random, log, fieldManager, closing: closing.signal },
    controllerName: options.controllerName?.({ uid: identity.uid, namespaces, ownNamespace }),
  });
  const { objects, writes, owners, reflectors, objectWatches, secretWatches } = watched;
  const secrets = createSecrets(api, fieldManager, watched.secretChanges, identity.confirm);

  return {
    uid: identity.uid,
    isReplaced: identity.isReplaced,
    namespaces,
    listedNamespaces: objectWatches.listedNamespaces,
    watch: (onChange, signal) => watched.watch(onChange, signal),
    get: (kind, namespace, name) => objects.get(kind, namespace, name),
    list: (kind) => objects.list(kind),
    uids: (kind) => objects.uids(kind),
    lookUp: (ref, uid) => watched.lookUp(ref, uid),
    addFinalizer: writes.addFinalizer,
    removeFinalizer: writes.removeFinalizer,
    writeStatus: writes.writeStatus,
    leavesStatus: owners.leaves,
    namespaceTerminates: (namespace) => namespaceTerminates(api, namespace),
    cachedSecretVersion: secretWatches.cachedVersion,
    readSecret: secrets.read,
    createSecret: secrets.create,
    replaceSecret: secrets.replace,
    deleteSecret: secrets.remove,
    async recordEvent(object, event) {
      if (watched.isTerminating(object)) return;
      if (event.type === "Warning") log("warn", eventLine(object, event));
      const reporter = { now: clock.now(), controller: REPORTER, instance: options.identity };
      const isRecorded = await createEvent(api, reporter, object, event);
      if (!isRecorded) watched.hintEnding(object.namespace);
    },
    restartWorkload: workloadRestarter(api, fieldManager, closing.signal),
    api,
    ownNamespace,
    podNamespace: accountNamespace ?? connection.podNamespace,
    heardAt: reflectors.heardAt,
    async close() {
      closing.abort();
      await reflectors.ended();
      api.close();
    },
  };
}
