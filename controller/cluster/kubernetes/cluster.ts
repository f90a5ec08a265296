/** The cluster of production: a Kubernetes API server. */
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import type { Presence } from "../../../domain/garbage-collection.ts";
import { isClusterScoped, type Kind } from "../../../domain/manifest/kinds.ts";
import type { LogLine } from "../../log-line.ts";
import type { Cluster, ClusterChange, ObjectRef } from "../port.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { isForbidden, isNotServed } from "./api-error.ts";
import { connect } from "./connection.ts";
import { createDoubts } from "./doubts.ts";
import { createEndingNamespaces } from "./ending-namespaces.ts";
import { recordEvent } from "./events.ts";
import { readIdentity } from "./identity.ts";
import { invalidStatus } from "./invalid.ts";
import { createLookUp } from "./look-up.ts";
import { namespaceTerminates } from "./namespace.ts";
import { createObjectWrites } from "./object-writes.ts";
import { createObjects } from "./objects.ts";
import type { HeldObject } from "./read-object.ts";
import { reflect } from "./reflector.ts";
import { objectPath, objectResource, objectsPath, secretsPath, titleOf, watchedCollections } from "./resources.ts";
import { createSecretReferences } from "./secret-references.ts";
import { createSecretNews, METADATA_ONLY, readSecretVersion } from "./secret-watch.ts";
import { createSecrets } from "./secrets.ts";
import { serviceAccountNamespace } from "./service-account.ts";
import { workloadRestarter } from "./workloads.ts";

/** How long to wait before a status that could not be written is tried again. Milliseconds. */
const STATUS_RETRY_MS = 10_000;
/** Of the events' reporter. */
const CONTROLLER = "keyplane.dev/controller";

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
  /** Told of each answer of the API server, and of each request without one. */
  readonly onAnswer?: (method: string, status: number | null) => void;
};

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

type SecretWatch = {
  /** Resolves once the Secrets were listed, or could not be. */
  readonly attempted: Promise<void>;
  isListed: boolean;
  /** What was heard last may not be true any more. */
  isStale: boolean;
  end(): void;
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
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const heardAt = new Map<string, number>();
  let announce: (change: ClusterChange) => void = () => {};
  let watching = closing.signal;
  let isStarted = false;
  /** What has been listed, by kind and namespace. */
  const listed = new Set<string>();
  /** Those whose last list lacked what is there. */
  const wronglyListed = new Set<string>();

  const ending = createEndingNamespaces({
    ...{ api, clock, log, confirm: identity.confirm },
    inUse: () => objects.namespaces(),
    onChange: (namespace) => objects.announce(namespace),
  });
  const objects = createObjects(onObject, ending.takes);
  const writes = createObjectWrites(api, objects, fieldManager);
  const secretWatches = new Map<string, SecretWatch>();
  const references = createSecretReferences(
    watchSecrets,
    (namespace) => {
      secretWatches.get(namespace)?.end();
      news.dropAll(namespace);
    },
    (namespace, name) => news.drop(namespace, name),
  );
  const news = createSecretNews(references.has, (namespace, name) => {
    // What there is at the start is looked at anyway.
    if (isStarted) announce({ of: "secret", namespace, name });
  });
  const secrets = createSecrets(api, fieldManager, news, identity.confirm);
  const settleDoubts = createDoubts(objects.doubted, (object) => lookUp(object, object.uid));

  function onObject(ref: ObjectRef, now: HeldObject | undefined): void {
    references.note(ref, now);
    announce({ of: "object", ...ref });
    if (now?.problem !== undefined) keep(tellProblem(now, now.problem));
  }

  async function lookUp(ref: ObjectRef, uid: string): Promise<Presence> {
    const wanted = { ...objectResource(ref), path: objectPath(ref), uid };
    const { presence, object } = await ask(wanted, watching);
    if (object !== undefined) take(ref, object);
    else if (presence === "gone") objects.forget({ ...ref, uid });
    return presence;
  }

  /** Takes what was found by name. Where a list lacked it, the list was wrong. */
  function take(ref: ObjectRef, found: unknown): void {
    if (!objects.found(objects.read(ref.kind, found))) return;
    const collection = collectionOf(ref.kind, namespaces === null ? "" : ref.namespace);
    if (!wronglyListed.has(collection)) {
      log("warn", `a list lacked ${titleOf(ref)}, which is there: all of its kind are listed again`);
    }
    wronglyListed.add(collection);
  }

  /** Has a task of ours end before the cluster is closed. */
  function keep(task: Promise<void>): void {
    running.add(task);
    void task.finally(() => running.delete(task));
  }

  /** Says in an object's status that it is not valid, until it is written or not true any more. */
  async function tellProblem(held: HeldObject, problem: string): Promise<void> {
    log("warn", `${titleOf(held.object)} is not worked on: ${problem}`);
    while (!watching.aborted && objects.current(held.object)?.generation === held.object.generation) {
      try {
        return await writes.writeStatus(held.object, invalidStatus(held, clock.now()));
      } catch (error) {
        log("warn", errorText(error));
        await delay(STATUS_RETRY_MS, undefined, { signal: watching }).catch(() => {});
      }
    }
  }

  function watchSecrets(namespace: string): void {
    const ended = new AbortController();
    const attempted = Promise.withResolvers<void>();
    const secretWatch: SecretWatch = {
      attempted: attempted.promise,
      isListed: false,
      isStale: false,
      end: () => ended.abort(),
    };
    secretWatches.set(namespace, secretWatch);
    const what = `the Secrets of ${namespace}`;
    keep(
      reflect(
        {
          api,
          path: secretsPath(namespace),
          what,
          accept: METADATA_ONLY,
          read: readSecretVersion,
          sink: news.sink(namespace),
          random,
          log,
          confirm: identity.confirm,
          onHeard() {
            heardAt.set(what, clock.monotonic());
            if (secretWatch.isListed) secretWatch.isStale = false;
          },
          onFailed() {
            secretWatch.isStale = true;
            attempted.resolve();
          },
        },
        () => {
          Object.assign(secretWatch, { isListed: true, isStale: false });
          attempted.resolve();
        },
        AbortSignal.any([watching, ended.signal]),
      ).finally(() => {
        heardAt.delete(what);
        attempted.resolve();
      }),
    );
  }

  function cachedSecretVersion(namespace: string, name: string): string | null | undefined {
    return secretWatches.get(namespace)?.isStale === false ? news.latest(namespace, name) : undefined;
  }

  async function watch(onChange: (change: ClusterChange) => void, signal: AbortSignal): Promise<void> {
    watching = AbortSignal.any([signal, closing.signal]);
    announce = onChange;
    const attempted = watchedCollections(namespaces).map(({ kind, namespace }) => {
      const what = namespace === "" ? kind : `${kind} in ${namespace}`;
      const first = Promise.withResolvers<void>();
      const ending = reflect(
        {
          api,
          path: objectsPath(kind, namespace),
          what,
          read: (raw) => objects.read(kind, raw),
          sink: objects.sink(kind, namespace),
          random,
          log,
          confirm: identity.confirm,
          mustList: () => wronglyListed.delete(collectionOf(kind, namespace)),
          onHeard: () => heardAt.set(what, clock.monotonic()),
          onFailed(error) {
            // One namespace that refuses us holds up no other, nor does a kind that is gone, as they go one by one.
            if ((namespace !== "" && isForbidden(error)) || isNotServed(error)) first.resolve();
          },
        },
        () => {
          listed.add(collectionOf(kind, namespace));
          keep(settleDoubts(watching));
          first.resolve();
        },
        watching,
      );
      keep(ending);
      return Promise.race([first.promise, ending]);
    });
    await Promise.all(attempted);
    keep(ending.run(watching));
    await Promise.all([...secretWatches.values()].map(({ attempted }) => attempted));
    isStarted = true;
  }

  return {
    uid: identity.uid,
    isReplaced: identity.isReplaced,
    namespaces,
    listedNamespaces: (kind) => {
      const isListed = (namespace: string) => listed.has(collectionOf(kind, namespace));
      if (namespaces === null || isClusterScoped(kind)) return isListed("") ? namespaces : [];
      return namespaces.filter(isListed);
    },
    watch,
    get: objects.get,
    list: objects.list,
    uids: objects.uids,
    lookUp,
    addFinalizer: writes.addFinalizer,
    removeFinalizer: writes.removeFinalizer,
    writeStatus: writes.writeStatus,
    namespaceTerminates: (namespace) => namespaceTerminates(api, namespace),
    cachedSecretVersion,
    readSecret: secrets.read,
    createSecret: secrets.create,
    replaceSecret: secrets.replace,
    deleteSecret: secrets.remove,
    recordEvent: (object, event) =>
      recordEvent(api, { now: clock.now(), controller: CONTROLLER, instance: options.identity }, object, event),
    restartWorkload: workloadRestarter(api, fieldManager, closing.signal),
    api,
    ownNamespace: accountNamespace ?? connection.namespace,
    podNamespace: accountNamespace ?? connection.podNamespace,
    heardAt,
    async close() {
      closing.abort();
      await Promise.all(running);
      api.close();
    },
  };
}

/** Names what one reflector lists. */
const collectionOf = (kind: Kind, namespace: string): string => `${kind}/${isClusterScoped(kind) ? "" : namespace}`;
