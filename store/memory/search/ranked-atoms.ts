import { sql } from "kysely";
import type { Db } from "../../database/change.ts";
import { preparedStatement } from "../../database/prepared-statement.ts";
import type { Atom, Reach } from "../atom.ts";
import { readInOrder } from "../atoms-within.ts";
import { nearestAtoms, type QuestionVector } from "../embedding/nearest.ts";
import type { PageSize } from "../page.ts";
import type { SearchFilter, SearchScope } from "./candidates.ts";
import { MAX_PLACES, newerFirst } from "./newer-first.ts";
import type { RankedRow } from "./ranked-row.ts";

/**
 * How an atom matches: by all the words as they stand, by all of them in some form, by some of them, or by its meaning
 * alone.
 */
export type Match = "words" | "similar" | "nearest" | "meaning";

/** An atom of an answer, by its place in it. */
export type RankedAtom = {
  readonly id: string;
  /** Higher is closer; only to be compared within one answer. */
  readonly rank: number;
  readonly match: Match;
};

export type Search = SearchFilter & {
  /** As people type it: words, `"phrases"`, `or`, `-not`. */
  readonly query: string;
  readonly limit: number;
  /** What the query means, where its words are not all; left out, or empty, for a search by words alone. */
  readonly meaning?: readonly QuestionVector[];
};

/** A candidate of each source may be the same atom: the index, the newest, the most important. */
export const SOURCES = 3;

export type Ranked = RankedRow &
  RankedAtom & {
    /** Whether it has more of what is asked for than a single word. */
    readonly isAnswer: boolean;
  };

export function byRank(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || b.importance - a.importance || b.createdMs - a.createdMs || byId(a, b);
}

export function byId(a: Ranked, b: Ranked): number {
  return a.id < b.id ? 1 : -1;
}

/** What means exactly what is asked for counts as much as what has this share of its words. */
const MEANING = 0.7;
/** From so much nearness on the meaning alone says that an atom is an answer. */
const MIN_NEARNESS = 0.5;
/** The nearest so many of a library: what is further away is no nearer than any other atom. */
const NEIGHBOURS = 50;

/**
 * Those that the words find, and those that mean the same, each with what it counts by its words and by its meaning
 * together (docs/decisions/semantic-search.md). In no order.
 */
export async function withMeaning(
  db: Db,
  scope: SearchScope,
  ranked: readonly Ranked[],
  meaning: readonly QuestionVector[] = [],
): Promise<Ranked[]> {
  const atoms = new Map(ranked.map((atom) => [atom.id, atom]));
  for (const vector of meaning) {
    for (const { nearness, ...near } of await nearestAtoms(db, scope, vector, NEIGHBOURS)) {
      const known = atoms.get(near.id) ?? { ...near, rank: 0, match: "meaning", isAnswer: false };
      const isAnswer = known.isAnswer || nearness >= MIN_NEARNESS;
      // The square: of a weak model nothing stands out, and its order is no better than chance.
      atoms.set(near.id, { ...known, isAnswer, rank: known.rank + MEANING * nearness ** 2 });
    }
  }
  return [...atoms.values()];
}

/** Of a longer atom so many characters show what it is about. */
const MAX_BEGINNING = 600;

/** The first places in the order of {@link newerFirst}, and the others behind them. */
export async function orderNewerFirst(
  db: Db,
  ranked: readonly Ranked[],
  sample: readonly string[],
): Promise<readonly Ranked[]> {
  if (ranked.length < 2) return ranked;
  const first = ranked.slice(0, MAX_PLACES);
  const { rows } = await sql<{ id: string; text: string }>`${preparedStatement}
    select a.id::text, left(a.content, ${MAX_BEGINNING}::integer) as text
    from unnest(${first.map(({ id }) => id)}::uuid[]) placed (id) cross join lateral (
      select a.id, a.content from atoms a where a.id = placed.id offset 0) a`.execute(db);
  const texts = new Map(rows.map(({ id, text }) => [id, text]));
  const ordered = await newerFirst(
    first.map((atom) => ({ ...atom, text: texts.get(atom.id) ?? "" })),
    sample,
  );
  return [...ordered.map(({ text, ...atom }) => atom), ...ranked.slice(MAX_PLACES)];
}

/** The ranked atoms with their text, but those that went meanwhile, as far as there is room for them. */
export async function readRankedAtoms(
  db: Db,
  reach: Reach,
  ranked: readonly RankedAtom[],
  size: PageSize,
): Promise<{ found: { atom: Atom; rank: number; match: Match }[]; cut: readonly string[] }> {
  const ids = ranked.map(({ id }) => id);
  const { atoms, cut } = await readInOrder(db, reach, ids, size);
  const ranks = new Map(ranked.map(({ id, rank, match }) => [id, { rank, match }]));
  const found = atoms.flatMap((atom) => {
    const rank = ranks.get(atom.id);
    return rank === undefined ? [] : [{ atom, ...rank }];
  });
  return { found, cut };
}
