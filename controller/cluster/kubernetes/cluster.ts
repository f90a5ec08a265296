/** The cluster of production: a Kubernetes API server. */
import type { Presence } from "../../../domain/garbage-collection.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import type { Cluster, ClusterChange, DeclaredObject, ObjectRef } from "../port.ts";
import { createSecretIndex } from "../secret-names.ts";
import { eventLine } from "../titles.ts";
import { type ApiClient, createApiClient } from "./api/api-client.ts";
import { connect } from "./api/connection.ts";
import { serviceAccountNamespace } from "./api/service-account.ts";
import { createDoubts } from "./doubts.ts";
import { createEndingNamespaces } from "./ending-namespaces.ts";
import { REPORTER, recordEvent } from "./events.ts";
import { readIdentity } from "./identity.ts";
import { tellInvalid } from "./invalid.ts";
import { createLookUp } from "./look-up.ts";
import { namespaceTerminates } from "./namespace.ts";
import { createObjectWrites } from "./object-writes.ts";
import { objectPath, objectResource } from "./resources.ts";
import { createSecretNews } from "./secrets/secret-watch.ts";
import { createSecretWatches } from "./secrets/secret-watches.ts";
import { createSecrets } from "./secrets/secrets.ts";
import { createStatusOwners } from "./status-owners.ts";
import { createObjectWatches } from "./watch/object-watches.ts";
import { createObjects } from "./watch/objects.ts";
import type { HeldObject } from "./watch/read-object.ts";
import { createReflectors } from "./watch/reflectors.ts";
import { workloadRestarter } from "./workloads.ts";

export type KubernetesClusterOptions = {
  /** A file; where it is undefined, KUBECONFIG, the user's own configuration or the pod's service account. */
  readonly kubeconfig: string | undefined;
  /** The namespaces that are served; null for all. */
  readonly namespaces: readonly string[] | null;
  /** `now` in milliseconds since the epoch, `monotonic` in milliseconds. */
  readonly clock: { now(): number; monotonic(): number };
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: LogLine;
  readonly fieldManager: string;
  /** Of this process, unlike any other's: the reporter of its events. */
  readonly identity: string;
  /** What its statuses name as the controller that wrote them; undefined for one that names none. */
  readonly controllerName?: (cluster: LedCluster) => string;
  /** Called with the status of each answer of the API server, and with null for each request without one. */
  readonly onAnswer?: (method: string, status: number | null) => void;
};

/** What the Lease of a controller depends on. */
export type LedCluster = Pick<KubernetesCluster, "uid" | "namespaces" | "ownNamespace">;

export type KubernetesCluster = Cluster & {
  /** For the leader election, which needs the same connections. */
  readonly api: ApiClient;
  /** That of the ServiceAccount that this is, else the one that the configuration names: where its Lease is. */
  readonly ownNamespace: string | undefined;
  /** That of the ServiceAccount that this is, which Keyplane runs in; undefined for a person. */
  readonly podNamespace: string | undefined;
  /** When each watch last heard of the server, on the monotonic clock. */
  readonly heardAt: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

/**
 * Connects to a cluster.
 *
 * @throws Error when no cluster is configured, or it cannot be reached
 */
export async function openKubernetesCluster(options: KubernetesClusterOptions): Promise<KubernetesCluster> {
  const { namespaces, clock, random, log, fieldManager, onAnswer } = options;
  const connection = connect(options.kubeconfig, clock);
  const api = createApiClient({ connection, random, log, ...(onAnswer === undefined ? {} : { onAnswer }) });
  const identity = await readIdentity(api, log).catch((error: unknown) => {
    api.close();
    throw error;
  });
  const accountNamespace = await serviceAccountNamespace(api);
  api.guardWrites(() => !identity.isReplaced(), "another cluster answers than the one this was started on");
  const ask = createLookUp(api, identity, clock);
  const ownNamespace = accountNamespace ?? connection.namespace;
  const closing = new AbortController();
  let announce: (change: ClusterChange) => void = () => {};
  let watching = closing.signal;
  let isStarted = false;

  const ending = createEndingNamespaces({
    ...{ api, clock, log, confirm: identity.confirm },
    inUse: () => objects.namespaces(),
    onChange: (namespace) => objects.announce(namespace),
  });
  const objects = createObjects(onObject, ending.takes);
  const owners = createStatusOwners({
    ...{ clock, log },
    name: options.controllerName?.({ uid: identity.uid, namespaces, ownNamespace }),
    serves: (object) => isServed(object, namespaces),
  });
  const writes = createObjectWrites(api, objects, owners, fieldManager);
  const references = createSecretIndex(
    (namespace) => {
      // A team may name one that is not served: it is read when the team is looked at, and no other time.
      if (namespaces === null || namespaces.includes(namespace)) secretWatches.start(namespace, watching);
    },
    (namespace) => {
      secretWatches.end(namespace);
      news.dropAll(namespace);
    },
    (namespace, name) => news.drop(namespace, name),
  );
  const news = createSecretNews(
    (namespace, name) => references.namersOf(namespace, name).length > 0,
    (namespace, name) => {
      // What there is at the start is looked at anyway.
      if (isStarted) announce({ of: "secret", namespace, name });
    },
  );
  const secrets = createSecrets(api, fieldManager, news, identity.confirm);
  const settleDoubts = createDoubts(objects.doubted, (object) => lookUp(object, object.uid));
  const reflectors = createReflectors({ api, clock, random, log, confirm: identity.confirm });
  const secretWatches = createSecretWatches(reflectors, news);
  const objectWatches = createObjectWatches({
    ...{ reflectors, objects, namespaces, log },
    onListed: () => reflectors.keep(settleDoubts(watching)),
  });

  function onObject(ref: ObjectRef, now: HeldObject | undefined): void {
    references.note(ref, now?.object);
    if (now === undefined) owners.forget(ref);
    announce({ of: "object", ...ref });
    if (now?.problem !== undefined) reflectors.keep(tellInvalid({ objects, writes, clock, log }, now, watching));
  }

  async function lookUp(ref: ObjectRef, uid: string): Promise<Presence> {
    const wanted = { ...objectResource(ref), path: objectPath(ref), uid };
    const { presence, object } = await ask(wanted, watching);
    if (object === undefined) {
      if (presence === "gone") objects.forget({ ...ref, uid });
    } else if (objects.found(objects.read(ref.kind, object))) objectWatches.lacked(ref);
    return presence;
  }

  async function watch(onChange: (change: ClusterChange) => void, signal: AbortSignal): Promise<void> {
    watching = AbortSignal.any([signal, closing.signal]);
    announce = onChange;
    await objectWatches.start(watching);
    reflectors.keep(ending.run(watching));
    await secretWatches.attempted();
    isStarted = true;
  }

  return {
    uid: identity.uid,
    isReplaced: identity.isReplaced,
    namespaces,
    listedNamespaces: objectWatches.listedNamespaces,
    watch,
    get: objects.get,
    list: objects.list,
    uids: objects.uids,
    lookUp,
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
      if (ending.isTerminating(object)) return;
      if (event.type === "Warning") log("warn", eventLine(object, event));
      const reporter = { now: clock.now(), controller: REPORTER, instance: options.identity };
      const isRecorded = await recordEvent(api, reporter, object, event);
      if (!isRecorded) ending.hint(object.namespace, watching);
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

/** Whether what an object declares is in a namespace that is served: of a team, one of those that it claims. */
function isServed({ spec }: DeclaredObject, namespaces: readonly string[] | null): boolean {
  return namespaces === null || !("namespaces" in spec) || spec.namespaces.some((one) => namespaces.includes(one));
}
