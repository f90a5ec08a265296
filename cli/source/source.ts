import type { CallerNetwork } from "../../domain/access/caller-network.ts";
import { isClusterScoped, type Kind, type Spec, type Status } from "../../domain/kinds/kinds.ts";
import type { BudgetJson } from "../../server/management/budgets/budget-json.ts";
import type { ListedState } from "../../store/keys/search/key-lists.ts";
import type { StatusObject } from "../data/status-files.ts";
import type { LabelSelector } from "./label-selector.ts";

/** Where the commands that read look: in the data folder of `up`, at a server, or in a Kubernetes cluster. */
export type Source = {
  readonly from: "data" | "server" | "kubeconfig";
  /** The objects of a kind, sorted by namespace and name. */
  list<K extends Kind>(kind: K, wanted: ListFilter): Promise<ListedObject<K>[]>;
  /**
   * What has happened, the oldest first.
   *
   * @throws Error where the source cannot be asked for it now, as of an `up` that does not run
   */
  events(wanted: EventFilter): Promise<ListedEvent[]>;
  /**
   * From where a key was called, by its id: undefined where that is not known here.
   *
   * @throws Error where the source cannot be asked for it now
   */
  callers(keyId: string): Promise<readonly CallerNetwork[] | undefined>;
  /**
   * How far the budgets of a key or a team are used: undefined where that is not known here.
   *
   * @throws Error where the source cannot be asked for it now
   */
  budgets(of: "keys" | "teams", id: string): Promise<readonly BudgetJson[] | undefined>;
  /** What people should know beside the objects of these kinds, a paragraph each. */
  notes(kinds: readonly Kind[]): Promise<string[]>;
  /**
   * Yields whenever what is wanted may have changed, from the first time that it is asked on, until the signal: by a watch
   * where there is one.
   */
  changes(kinds: readonly Kind[], wanted: readonly ListFilter[], signal: AbortSignal): AsyncGenerator<void>;
  /** Ends what is asked and not answered yet, too: that throws. */
  close(): void;
};

/** An object as a source shows it. */
export type ListedObject<K extends Kind = Kind> = {
  readonly kind: K;
  readonly metadata: StatusObject<K>["metadata"];
  /** What the source shows of it. */
  readonly spec?: Partial<Spec<K>> | undefined;
  readonly status?: Status<K> | undefined;
  /** Of a key at a server, which knows no conditions. */
  readonly state?: ListedState;
  /** Of a key at a server. */
  readonly callers?: readonly CallerNetwork[] | undefined;
  /** How far its budgets are used, where that was asked for. */
  readonly budgets?: readonly BudgetJson[] | undefined;
  /** The whole of it, for programs: in the source's own form. */
  readonly json: object;
};

/** Which objects: all where nothing is said. */
export type ListFilter = {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly labels?: LabelSelector | undefined;
};

/** Which events: all that are kept where nothing is said. */
export type EventFilter = Omit<ListFilter, "labels"> & {
  readonly kind?: Kind | undefined;
  /** Of a key, where there may be others of its name. */
  readonly id?: string | undefined;
  /** Milliseconds since the epoch: from then on. */
  readonly from?: number | undefined;
};

/** Something that happened to an object. */
export type ListedEvent = {
  /** RFC 3339; of what happened again and again, the last time. */
  readonly at: string;
  readonly type: "Normal" | "Warning";
  /** In a word: of a cluster's event, or as `key.revoked` in the audit log. */
  readonly reason: string;
  readonly kind: Kind;
  /** Empty for what belongs to the whole cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
  /** How often it happened. */
  readonly count: number;
};

export function matchesFilter(
  { namespace, name, labels }: ListFilter,
  { metadata }: Pick<ListedObject, "metadata">,
): boolean {
  return (
    (namespace === undefined || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    (labels === undefined || labels.matches(metadata.labels ?? {}))
  );
}

/** The objects of a kind that are wanted: of those without a namespace whichever it is. */
export function listMatching<K extends Kind>(source: Source, kind: K, wanted: ListFilter): Promise<ListedObject<K>[]> {
  return source.list(kind, isClusterScoped(kind) ? { ...wanted, namespace: undefined } : wanted);
}

/** By namespace, then by name. */
export function sortByName<T extends Pick<ListedObject, "metadata">>(objects: readonly T[]): T[] {
  const order = ({ metadata: { namespace, name } }: T) => `${namespace}/${name}`;
  return objects.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
}
