import type { Db } from "../../database/change.ts";
import type { Atom, Reach } from "../atom.ts";
import { readInOrder } from "../atoms-within.ts";
import { nearestAtoms, type QuestionVector } from "../embedding/nearest.ts";
import type { PageSize } from "../page.ts";
import type { SearchFilter, SearchScope } from "./candidates.ts";
import { fuse } from "./fuse.ts";
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

export type Ranked = RankedRow & RankedAtom;

export function byRank(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || b.importance - a.importance || b.createdMs - a.createdMs || byId(a, b);
}

export function byId(a: Ranked, b: Ranked): number {
  return a.id < b.id ? 1 : -1;
}

/** Those that the words find, and those that mean the same, in one order (docs/decisions/semantic-search.md). */
export async function withMeaning(
  db: Db,
  scope: SearchScope,
  ranked: RankedAtom[],
  { meaning = [], limit }: Pick<Search, "meaning" | "limit">,
): Promise<RankedAtom[]> {
  if (meaning.length === 0) return ranked;
  const nearest: string[][] = [];
  for (const vector of meaning) nearest.push(await nearestAtoms(db, scope, vector, limit));
  const matches = new Map(ranked.map(({ id, match }) => [id, match]));
  return fuse([[...matches.keys()], ...nearest])
    .slice(0, limit)
    .map(({ id, rank }) => ({ id, rank, match: matches.get(id) ?? "meaning" }));
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
