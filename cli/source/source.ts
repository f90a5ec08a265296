import type { CallerNetwork } from "../../domain/access/caller-network.ts";
import { isClusterScoped, type Kind, type Spec, type Status } from "../../domain/kinds/kinds.ts";
import type { BudgetJson } from "../../server/management/budgets/budget-json.ts";
import type { ListedState } from "../../store/keys/search/key-lists.ts";
import type { StatusObject } from "../data/status-files.ts";
import type { LabelSelector } from "./label-selector.ts";

/** Source that reading commands use: the data folder of `up`, a server, or a Kubernetes cluster. */
export type Source = {
  readonly from: "data" | "server" | "kubeconfig";
  /** Lists the objects of a kind, sorted by namespace and name. */
  list<K extends Kind>(kind: K, wanted: ListFilter): Promise<ListedObject<K>[]>;
  /**
   * Returns events, the oldest first.
   *
   * @throws Error if the source cannot be asked now, such as an `up` that does not run
   */
  events(wanted: EventFilter): Promise<ListedEvent[]>;
  /**
   * Returns the networks that a key was called from, by its id; undefined if this source does not know them.
   *
   * @throws Error if the source cannot be asked now
   */
  callers(keyId: string): Promise<readonly CallerNetwork[] | undefined>;
  /**
   * Returns how far the budgets of a key or a team are used; undefined if this source does not know that.
   *
   * @throws Error if the source cannot be asked now
   */
  budgets(of: "keys" | "teams", id: string): Promise<readonly BudgetJson[] | undefined>;
  /** Returns notes for people about these kinds, a paragraph each. */
  notes(kinds: readonly Kind[]): Promise<string[]>;
  /**
   * Yields whenever the wanted objects may have changed, from the first request for a value until the signal aborts. A
   * source that can be watched is watched.
   */
  changes(kinds: readonly Kind[], wanted: readonly ListFilter[], signal: AbortSignal): AsyncGenerator<void>;
  /** Closes the source. Pending requests throw. */
  close(): void;
};

/** Object as a source shows it. */
export type ListedObject<K extends Kind = Kind> = {
  readonly kind: K;
  readonly metadata: StatusObject<K>["metadata"];
  /** Parts of the spec that the source shows. */
  readonly spec?: Partial<Spec<K>> | undefined;
  readonly status?: Status<K> | undefined;
  /** Reason why the status is not of the object's last declaration, whatever its generation; undefined if it may be. */
  readonly notCurrent?: string | undefined;
  /** State of a key at a server, which has no conditions. */
  readonly state?: ListedState;
  /** Networks that a key at a server was called from. */
  readonly callers?: readonly CallerNetwork[] | undefined;
  /** Use of its budgets, if it was asked for. */
  readonly budgets?: readonly BudgetJson[] | undefined;
  /** Whole object in the source's own form, for programs. */
  readonly json: object;
};

/** Filter of objects; fields that are left out match everything. */
export type ListFilter = {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Id of a key; no object of another kind matches it. */
  readonly id?: string | undefined;
  readonly labels?: LabelSelector | undefined;
};

/** Filter of events; fields that are left out match everything. */
export type EventFilter = Omit<ListFilter, "labels"> & {
  readonly kind?: Kind | undefined;
  /** Time of the earliest event, in milliseconds since the epoch. */
  readonly from?: number | undefined;
};

/** Event of an object. */
export type ListedEvent = {
  /** Time in RFC 3339; of a repeated event, the last time. */
  readonly at: string;
  readonly type: "Normal" | "Warning";
  /** Reason in a word: of a cluster's event, or of the audit log, such as `key.revoked`. */
  readonly reason: string;
  readonly kind: Kind;
  /** Namespace; empty for a cluster-wide object. */
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
  /** Number of times that it happened. */
  readonly count: number;
};

export function matchesFilter(
  { namespace, name, id, labels }: ListFilter,
  { metadata, status }: Pick<ListedObject, "metadata" | "status">,
): boolean {
  return (
    (namespace === undefined || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    (id === undefined || listedKeyId({ status }) === id) &&
    (labels === undefined || labels.matches(metadata.labels ?? {}))
  );
}

/** Returns the id of a key; undefined for a key that has none yet, and for another object. */
export function listedKeyId({ status }: Pick<ListedObject, "status">): string | undefined {
  return status !== undefined && "keyID" in status ? status.keyID : undefined;
}

/** Lists the matching objects of a kind. For a cluster-wide kind the namespace of the filter is ignored. */
export async function listMatching<K extends Kind>(
  source: Source,
  kind: K,
  wanted: ListFilter,
): Promise<ListedObject<K>[]> {
  if (wanted.id !== undefined && kind !== "PlatformKey") return [];
  return source.list(kind, isClusterScoped(kind) ? { ...wanted, namespace: undefined } : wanted);
}

/** Sorts by namespace, then by name. */
export function sortByName<T extends Pick<ListedObject, "metadata">>(objects: readonly T[]): T[] {
  const order = ({ metadata: { namespace, name } }: T) => `${namespace}/${name}`;
  return objects.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
}
