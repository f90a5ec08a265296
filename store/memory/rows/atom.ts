/**
 * What a caller may reach: the libraries of its team, all of them or the named ones. It is in the WHERE of every
 * statement about atoms, so that an atom beyond it is not there: not in a list, a count, a rank or an error (threats
 * b58, b60).
 */
export type Reach = {
  readonly teamId: string;
  /** Null: every library of the team. */
  readonly libraryIds: readonly string[] | null;
  /**
   * Whose memory it is: the atoms of this subject are in the reach beside the shared ones, and are the only ones
   * that may be changed. Left out, the shared ones are, and no atom of any subject is in the reach.
   */
  readonly subject?: string | undefined;
  /** Only what is the subject's, without what is shared. */
  readonly isOwnOnly?: boolean;
};

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
