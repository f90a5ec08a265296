/**
 * What the controller asks of a cluster. It has two sides: `kubernetes/`, an API server, and `files/`, a folder of
 * manifests. Both behave as the Kubernetes API does: objects have a uid and a generation, a removal waits for our
 * finalizer, and a write that its precondition forbids is refused.
 */
import type { Presence } from "../../domain/garbage-collection.ts";
import type { Kind, Spec } from "../../domain/kinds/kinds.ts";
import type { Labels } from "../../domain/manifest/document/labels.ts";

/** The finalizer that holds an object until what it stands for is revoked or released. */
export const FINALIZER = "keyplane.dev/finalizer";
/** The label on every Secret of ours: the name of its PlatformKey. */
export const KEY_LABEL = "keyplane.dev/key";
/** Annotations on every Secret of ours. They inform people; nothing is ever decided by them. */
export const KEY_ID_ANNOTATION = "keyplane.dev/key-id";
export const KEY_VERSION_ANNOTATION = "keyplane.dev/key-version";
/** On a pod template, with the name of a PlatformKey behind it: the key id and version that it was restarted for. */
export const RESTART_ANNOTATION_PREFIX = "version.keyplane.dev";

/** Names an object. The namespace is empty for cluster-scoped kinds. */
export type ObjectRef<K extends Kind = Kind> = {
  readonly kind: K;
  readonly namespace: string;
  readonly name: string;
};

/** A declaration as the cluster holds it, already valid by its schema. */
export type DeclaredObject<K extends Kind = Kind> = ObjectRef<K> & {
  readonly uid: string;
  /** Grows with each change of the spec. */
  readonly generation: number;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Removal was asked for and waits for finalizers. */
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly spec: Spec<K>;
  readonly labels: Labels;
  /** Of a PlatformKey: the id of the key that it is to take over, as its annotation has it; null for none. */
  readonly takeOver: string | null;
  /** As last written, for merging condition times. */
  readonly status: ObjectStatus | undefined;
};

export type Condition = {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  /** RFC 3339. */
  readonly lastTransitionTime: string;
};

export type ObjectStatus = {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly [field: string]: unknown;
};

/** A Secret as read, with its data in clear: never logged, never kept. */
export type SecretObject = SecretDraft & {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly immutable: boolean;
  /** It was deleted, and is still there. */
  readonly deleting: boolean;
  /** The marks that other tools have left on it, as text for people. Nothing is decided by them. */
  readonly marks: readonly string[];
};

/** A Secret as it should be. */
export type SecretDraft = {
  readonly namespace: string;
  readonly name: string;
  /** Text by data key. */
  readonly data: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /**
   * The PlatformKey that owns it, and the version by which it is named: the uid decides whether a Secret is ours. Null
   * without an owner reference.
   */
  readonly owner: { readonly apiVersion: string; readonly uid: string; readonly name: string } | null;
};

export type ClusterEvent = {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  /** Never more of a key than its prefix. */
  readonly message: string;
};

/**
 * Why a cluster refused. `AlreadyExists`, `Conflict` and `NotFound` are definite: nothing was written. `Forbidden` is
 * definite too, and so is `Refused`: an admission control, which the message names, does not let an object in, or the
 * cluster finds it invalid with what others have left in it.
 * `Unclear` means that the write may have happened: read before doing anything else.
 */
export type ClusterErrorCode = "AlreadyExists" | "Conflict" | "NotFound" | "Forbidden" | "Refused" | "Unclear";

export class ClusterError extends Error {
  readonly code: ClusterErrorCode;
  constructor(code: ClusterErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ClusterError";
    this.code = code;
  }
}

/** What a cluster reports to its watcher: names only, since what counts is the state when it is read. */
export type ClusterChange =
  | ({ readonly of: "object" } & ObjectRef)
  | { readonly of: "secret"; readonly namespace: string; readonly name: string };

export type Cluster = {
  /** Identifies the cluster for ever: part of the scope of every row that its declarations own. */
  readonly uid: string;
  /** Whether another cluster was found to answer in its place: nothing is believed, and nothing is to be done. */
  isReplaced(): boolean;
  /** The namespaces that are served, null for all: what was declared in others is not ours to judge. */
  readonly namespaces: readonly string[] | null;
  /**
   * Those of them where the declarations of a kind have been listed: of one that refuses us nothing is known, nor of a
   * kind that is not served.
   */
  listedNamespaces(kind: Kind): readonly string[] | null;

  /**
   * Starts watching. Resolves once everything there is has been read once, each object announced; what is in a
   * namespace of `namespaces` that refuses us follows when it does so no longer. Ends with the signal.
   */
  watch(onChange: (change: ClusterChange) => void, signal: AbortSignal): Promise<void>;

  /** From what has been watched; no request. */
  get<K extends Kind>(kind: K, namespace: string, name: string): DeclaredObject<K> | undefined;
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[];
  /**
   * The uids of all objects that are known to be there, also of those that `list` leaves out since their spec cannot be
   * read. One that a list lacked is not among them, though `get` and `list` have it until it is known to be gone.
   */
  uids(kind: Kind): readonly string[];
  /**
   * Asks the cluster itself, and not what has been watched, for the object of this name that has this uid. It never
   * fails, and may take some seconds.
   */
  lookUp(ref: ObjectRef, uid: string): Promise<Presence>;

  addFinalizer(object: DeclaredObject): Promise<void>;
  /** The object may be gone after this. No error when it already is. */
  removeFinalizer(object: DeclaredObject): Promise<void>;

  /**
   * Writes the status, unless it is equal to what is there, or left to another controller. No error when the object is
   * gone.
   */
  writeStatus(object: DeclaredObject, status: ObjectStatus): Promise<void>;
  /** Whether the status that is there is left to the controller that wrote it; no request. */
  leavesStatus(object: DeclaredObject, status: ObjectStatus): boolean;

  /** Asks whether a namespace is being deleted, or gone: nothing can be created in it any more. */
  namespaceTerminates(namespace: string): Promise<boolean>;

  /**
   * The version of a Secret as it was last heard of, by a watch or by an answer to ourselves; no request. Null where
   * none was heard of. Undefined while the cluster hears nothing of its Secrets: then only a read shows it.
   */
  cachedSecretVersion(namespace: string, name: string): string | null | undefined;
  /** Reads a Secret from its source, not from a cache. Undefined when there is none. */
  readSecret(namespace: string, name: string): Promise<SecretObject | undefined>;
  /** Fails with `AlreadyExists`. */
  createSecret(draft: SecretDraft): Promise<SecretObject>;
  /** Replaces exactly the Secret that was read. Fails with `Conflict` or `NotFound` when it is another one by now. */
  replaceSecret(read: SecretObject, draft: SecretDraft): Promise<SecretObject>;
  /** Deletes exactly the Secret that was read. No error when it is gone. */
  deleteSecret(read: SecretObject): Promise<void>;

  /** Records an event, but for one of an object whose namespace is being deleted, which takes none. */
  recordEvent(object: DeclaredObject, event: ClusterEvent): Promise<void>;
  /**
   * Rolls a workload out again by annotating its pod template; the same value twice is no change. It may take a second,
   * in which restarts of the same workload are gathered: no other work should wait for it.
   */
  restartWorkload(
    namespace: string,
    target: { readonly kind: string; readonly name: string },
    annotation: { readonly name: string; readonly value: string },
  ): Promise<void>;
};
