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
  /** What it has to do with other atoms: of those that are there to who asks. */
  readonly links: readonly AtomLink[];
  /** From when on it is not there any more; null for never. */
  readonly expiresAt: number | null;
  /** When the statement is true in the world: from the one on, and before the other; null where that is not said. */
  readonly validFrom: number | null;
  readonly validTo: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Counts from 1; a correction makes the next. */
  readonly revision: number;
  /** To a call for a subject: whether it is shared by all, and not the subject's own. */
  readonly isShared?: boolean | undefined;
};

export type AtomMetadata = Readonly<Record<string, string | number | boolean>>;

/** How an atom stands to another one: `{ rel: "replaces", id }`. */
export type AtomLink = { readonly rel: string; readonly id: string };

/** What a writer sets. */
export type AtomFields = Pick<
  Atom,
  "content" | "tags" | "source" | "importance" | "metadata" | "links" | "expiresAt" | "validFrom" | "validTo"
>;

/** An earlier or the present revision of one atom. */
export type AtomRevision = AtomFields & Pick<Atom, "revision" | "updatedAt">;

/** The place of an atom in the order of a list: by its time and its id, and by its importance where that comes first. */
export type AtomPosition = { readonly at: number; readonly id: string; readonly importance?: number };
