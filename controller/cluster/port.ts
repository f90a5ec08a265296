/**
 * Interface of the controller to a cluster. It has two implementations: `kubernetes/`, an API server, and `files/`, a
 * folder of manifests. Both behave as the Kubernetes API does: objects have a uid and a generation, a removal waits for
 * our finalizer, and a write that its precondition forbids is refused.
 */
import type { Presence } from "../../domain/garbage-collection.ts";
import type { Kind, Spec } from "../../domain/kinds/kinds.ts";
import type { Labels } from "../../domain/manifest/document/labels.ts";

/** Finalizer that holds an object until what it stands for is revoked or released. */
export const FINALIZER = "keyplane.dev/finalizer";
/** Label on every Secret of ours: the name of its PlatformKey. */
export const KEY_LABEL = "keyplane.dev/key";
/** Annotations on every Secret of ours. They inform people; nothing is ever decided by them. */
export const KEY_ID_ANNOTATION = "keyplane.dev/key-id";
export const KEY_VERSION_ANNOTATION = "keyplane.dev/key-version";
/**
 * Annotation on a Secret of ours without an owner reference: the uid of the PlatformKey that it belongs to. It decides
 * what the reference would.
 */
export const OWNER_ANNOTATION = "keyplane.dev/owner-uid";
/**
 * Prefix of annotations on pod templates. The name of a PlatformKey follows it. The value is the key id, version
 * and key prefix that the workload was restarted for.
 */
export const RESTART_ANNOTATION_PREFIX = "version.keyplane.dev";

/** Names an object. The namespace is empty for cluster-scoped kinds. */
export type ObjectRef<K extends Kind = Kind> = {
  readonly kind: K;
  readonly namespace: string;
  readonly name: string;
};

/** Declaration as the cluster holds it, already valid by its schema. */
export type DeclaredObject<K extends Kind = Kind> = ObjectRef<K> & {
  readonly uid: string;
  /** Number that grows with each change of the spec. */
  readonly generation: number;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** True if removal was requested and waits for finalizers. */
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly spec: Spec<K>;
  /**
   * True for a PlatformKey whose spec this version cannot read: of the spec its state alone is to be applied, and its key
   * is held to its team and policies as it was issued.
   */
  readonly isUnread?: true;
  readonly labels: Labels;
  /** Id of the key that a PlatformKey is to take over, as its annotation has it; null if there is none. */
  readonly takeOver: string | null;
  /** Status as last written, for merging condition times. */
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

/** Secret as read, with its data in clear: never logged, never kept. */
export type SecretObject = SecretDraft & {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly immutable: boolean;
  /** True if the Secret was deleted and is still there. */
  readonly deleting: boolean;
  /** Marks that other tools have left on the Secret, as text for people. Nothing is decided by them. */
  readonly marks: readonly string[];
};

/** Secret as it should be. */
export type SecretDraft = {
  readonly namespace: string;
  readonly name: string;
  /** Text by data key. */
  readonly data: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** PlatformKey that owns the Secret: its uid decides whether a Secret is ours. null if the Secret names none. */
  readonly owner: SecretOwner | null;
};

export type SecretOwner = {
  /** API version that the owner reference names. */
  readonly apiVersion: string;
  readonly uid: string;
  readonly name: string;
  /**
   * True if an owner reference names it, so that Kubernetes deletes the Secret with it, and before it in a foreground
   * deletion; false if {@link OWNER_ANNOTATION} does.
   */
  readonly byReference: boolean;
};

export type ClusterEvent = {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  /** Text that has never more of a key than its prefix. */
  readonly message: string;
};

/**
 * Reasons for which a cluster refuses. `AlreadyExists`, `Conflict` and `NotFound` are definite: nothing was written.
 * `Forbidden` is definite too, and so is `Refused`: an admission control, which the message names, does not let an
 * object in, or the cluster finds it invalid with what others have left in it. `Unclear` means that the write may have
 * happened: read before doing anything else.
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

/** Change that a cluster reports to its watcher: names only, since the state at the time of reading is what counts. */
export type ClusterChange =
  | ({ readonly of: "object" } & ObjectRef)
  | { readonly of: "secret"; readonly namespace: string; readonly name: string };

export type Cluster = {
  /** Id of the cluster for ever: part of the scope of every row that its declarations own. */
  readonly uid: string;
  /**
   * True if another cluster was found to answer in its place: nothing it says is believed, and nothing is to be done.
   */
  isReplaced(): boolean;
  /** Namespaces that are served, null for all: what was declared in other namespaces is not ours to judge. */
  readonly namespaces: readonly string[] | null;
  /**
   * Returns the served namespaces in which the declarations of a kind have been listed; null for all. Nothing is known
   * of a namespace that refuses us, nor of a kind that is not served.
   */
  listedNamespaces(kind: Kind): readonly string[] | null;

  /**
   * Starts watching. Resolves once everything there is has been read once, each object announced. Objects in a
   * namespace of `namespaces` that refuses us follow once it no longer does. Ends with the signal.
   */
  watch(onChange: (change: ClusterChange) => void, signal: AbortSignal): Promise<void>;

  /** Returns an object from what has been watched; no request. */
  get<K extends Kind>(kind: K, namespace: string, name: string): DeclaredObject<K> | undefined;
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[];
  /**
   * Returns the uids of all objects that are known to be there, also of objects that `list` leaves out since their spec
   * cannot be read. An object that a list lacked is not among them, though `get` and `list` have it until it is known
   * to be gone.
   */
  uids(kind: Kind): readonly string[];
  /**
   * Asks the cluster itself, and not what has been watched, for the object of this name that has this uid. It never
   * fails, and may take some seconds.
   */
  lookUp(ref: ObjectRef, uid: string): Promise<Presence>;

  addFinalizer(object: DeclaredObject): Promise<void>;
  /** Removes our finalizer. The object may be gone after this. No error if it already is. */
  removeFinalizer(object: DeclaredObject): Promise<void>;

  /**
   * Writes the status, unless it is equal to what is there, or left to another controller. No error if the object is
   * gone.
   */
  writeStatus(object: DeclaredObject, status: ObjectStatus): Promise<void>;
  /** True if the present status is left to the controller that wrote it; no request. */
  leavesStatus(object: DeclaredObject, status: ObjectStatus): boolean;

  /** True if a namespace is being deleted, or gone: nothing can be created in it any more. Makes a request. */
  namespaceTerminates(namespace: string): Promise<boolean>;

  /**
   * Returns the version of a Secret as it was last heard of, by a watch or by an answer to ourselves; no request. null
   * if no such Secret was heard of. undefined while the cluster hears nothing of its Secrets: then only a read shows
   * it.
   */
  cachedSecretVersion(namespace: string, name: string): string | null | undefined;
  /** Reads a Secret from its source, not from a cache. undefined if there is none. */
  readSecret(namespace: string, name: string): Promise<SecretObject | undefined>;
  /** Creates a Secret. Fails with `AlreadyExists`. */
  createSecret(draft: SecretDraft): Promise<SecretObject>;
  /**
   * Replaces exactly the Secret that was read. A draft with its very `data` leaves that byte by byte. Fails with
   * `Conflict` or `NotFound` if it is another Secret by now.
   */
  replaceSecret(read: SecretObject, draft: SecretDraft): Promise<SecretObject>;
  /** Deletes exactly the Secret that was read. No error if it is gone. */
  deleteSecret(read: SecretObject): Promise<void>;

  /** Records an event, unless the namespace of its object is being deleted and takes no events. */
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
