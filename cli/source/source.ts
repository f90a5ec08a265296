import { isClusterScoped, type Kind, type Spec, type Status } from "../../domain/manifest/kinds.ts";
import type { ListedState } from "../../store/keys/key-lists.ts";
import type { StatusObject } from "../status-files.ts";

/** Where the commands that read look: in the data folder of `up`, at a server, or in a Kubernetes cluster. */
export type Source = {
  readonly from: "data" | "server" | "kubeconfig";
  /** The objects of a kind, sorted by namespace and name. */
  list<K extends Kind>(kind: K, wanted: Wanted): Promise<Seen<K>[]>;
  /** What people should know beside the objects of these kinds, a paragraph each. */
  notes(kinds: readonly Kind[]): Promise<string[]>;
  /** How long whoever waits for a change lets pass before asking again. Milliseconds. */
  readonly pollMs: number;
  close(): void;
};

/** An object as a source tells of it. */
export type Seen<K extends Kind = Kind> = {
  readonly kind: K;
  readonly metadata: StatusObject<K>["metadata"];
  /** What the source shows of it. */
  readonly spec?: Partial<Spec<K>> | undefined;
  readonly status?: Status<K> | undefined;
  /** Of a key at a server, which knows no conditions. */
  readonly state?: ListedState;
  /** The whole of it, for programs: in the source's own form. */
  readonly json: object;
};

/** Which objects: all where nothing is said. */
export type Wanted = { readonly namespace?: string | undefined; readonly name?: string | undefined };

export function isWanted({ namespace, name }: Wanted, { metadata }: Pick<Seen, "metadata">): boolean {
  return (
    (namespace === undefined || metadata.namespace === namespace) && (name === undefined || metadata.name === name)
  );
}

/** The objects of a kind that are wanted: of those without a namespace whichever it is. */
export function listWanted<K extends Kind>(source: Source, kind: K, { namespace, name }: Wanted): Promise<Seen<K>[]> {
  return source.list(kind, isClusterScoped(kind) ? { name } : { namespace, name });
}

/** By namespace, then by name. */
export function inOrder<T extends Pick<Seen, "metadata">>(objects: readonly T[]): T[] {
  const order = ({ metadata: { namespace, name } }: T) => `${namespace}/${name}`;
  return objects.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
}
