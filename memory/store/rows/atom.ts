/** One remembered statement (spec §3). Times are milliseconds since the epoch. */
export type Atom = {
  readonly id: string;
  readonly library: { readonly id: string; readonly namespace: string; readonly name: string };
  readonly content: string;
  readonly tags: readonly string[];
  readonly source: string | null;
  readonly importance: number;
  /** Facts for programs, flat. */
  readonly metadata: AtomMetadata;
  /** Links to other atoms, without those to atoms that the reader may not see or that are gone. */
  readonly links: readonly AtomLink[];
  /** Time at which the atom expires; null for never. */
  readonly expiresAt: number | null;
  /** Times at which the statement is true in the world: from `validFrom` on, and before `validTo`; null if open. */
  readonly validFrom: number | null;
  readonly validTo: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Number of the revision, from 1 on; each correction adds one. */
  readonly revision: number;
  /** True if all subjects share the atom, false if it is the subject's own; left out if the call has no subject. */
  readonly isShared?: boolean | undefined;
};

export type AtomMetadata = Readonly<Record<string, string | number | boolean>>;

/** Link to another atom and its kind: `{ rel: "replaces", id }`. */
/** Number of links that an atom may have. */
export const MAX_LINKS = 32;

export type AtomLink = { readonly rel: string; readonly id: string };

/** Fields that a writer sets. */
export type AtomFields = Pick<
  Atom,
  "content" | "tags" | "source" | "importance" | "metadata" | "links" | "expiresAt" | "validFrom" | "validTo"
>;

/** An earlier or the present revision of one atom. */
export type AtomRevision = AtomFields & Pick<Atom, "revision" | "updatedAt">;

/** Position of an atom in a list: its time and its id, and its importance if the list is ordered by that first. */
export type AtomPosition = { readonly at: number; readonly id: string; readonly importance?: number };
