import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db } from "../../../store/database/change.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { PageSize } from "../../../store/libraries/page.ts";
import { EXTRACTED } from "../../rules/extraction.ts";
import { compareMeanings } from "../embedding/alike.ts";
import type { Atom } from "../rows/atom.ts";
import { validThen } from "../rows/atom-filter.ts";
import { readInOrder } from "../rows/atoms-within.ts";
import { findReplacements } from "../rows/replaced-atoms.ts";
import { nearestAtoms, type QuestionVector } from "./candidates/nearest.ts";
import { RANKED_COLUMNS, type RankedColumns, type RankedRow, toRankedRow } from "./candidates/ranked-row.ts";
import { candidateCondition, type SearchFilter, type SearchScope } from "./candidates/search-scope.ts";
import type { Topic } from "./candidates/similar-atoms.ts";
import { namedFirst } from "./ranking/named-first.ts";
import { MAX_GIVING_WAY, MAX_POSITIONS, newerFirst } from "./ranking/newer-first.ts";
import { replacedLast } from "./ranking/replaced-last.ts";
import { validFirst } from "./ranking/valid-first.ts";
import { writtenFirst } from "./ranking/written-first.ts";
import { readTopic } from "./words/search-words.ts";
import { MAX_BEGINNING } from "./words/stems.ts";

/** Kind of match: by all the words as they stand, by all in some form, by some of them, or by the meaning alone. */
export type Match = "words" | "similar" | "nearest" | "meaning";

/** Atom of a ranked answer. */
export type RankedAtom = {
  readonly id: string;
  /** Rank, the higher the closer; only to be compared within one answer. */
  readonly rank: number;
  readonly match: Match;
  /** Index of the passage that means what is asked for, from 0 on, if the atom matches by its meaning alone. */
  readonly passage?: number;
  /** Id of the atom that replaces it, if any. */
  readonly replacedBy?: string | undefined;
};

export type Search = SearchFilter & {
  /** Query as people type it: words, `"phrases"`, `or`, `-not`. */
  readonly query: string;
  readonly limit: number;
  /** Vectors of the query's meaning; left out, or empty, for a search by words alone. */
  readonly meaning?: readonly QuestionVector[];
};

export type Ranked = RankedRow &
  RankedAtom & {
    /** Closeness to the search, by whichever way the atom was found; only to be compared within one answer. */
    readonly closeness: number;
  };

export function byRank(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || b.importance - a.importance || b.createdMs - a.createdMs || byId(a, b);
}

export function byId(a: Ranked, b: Ranked): number {
  return a.id < b.id ? 1 : -1;
}

/** Weight of meaning: exactly the meaning of the query counts as much as this share of its words. */
const MEANING = 0.7;
/** Number of nearest atoms that a vector of the query finds: atoms further away are no nearer than any other. */
const NEIGHBOURS = 50;

/**
 * Adds the atoms that mean the same to the atoms that the words find, each ranked by its words and its meaning together
 * (docs/decisions/semantic-search.md). In no order.
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
      const known = atoms.get(near.id) ?? { ...near, rank: 0, closeness: 0, match: "meaning" };
      const meaning = MEANING * nearness;
      // Squared, where a newer atom may pass an older one for it: half as near is no answer.
      atoms.set(near.id, { ...known, rank: known.rank + meaning, closeness: known.closeness + meaning * nearness });
    }
  }
  return [...atoms.values()];
}

/** Number of words, frequent ones included, from which on a query is a question; a shorter query is looked up. */
const MIN_QUESTION = 5;

/** True if a query asks about something, and does not look up an identifier or a few words. */
export function isQuestion(query: string): boolean {
  return readTopic(query).wanted.length >= MIN_QUESTION;
}

/**
 * Orders the first positions of an answer, one step after the other: {@link newerFirst}, {@link validFirst},
 * {@link writtenFirst}, {@link namedFirst} if the query is no question, and {@link replacedLast}, with the replaced
 * atoms marked. Replacements come last: if a writer says what is no longer true, nothing is guessed.
 */
export async function orderRanked(
  db: Db,
  ranked: readonly Ranked[],
  topic: Pick<Topic, "scope" | "sample">,
  search: Pick<Search, "query" | "meaning">,
): Promise<readonly Ranked[]> {
  return replacedLast(await markReplaced(db, topic.scope, await orderByTime(db, ranked, topic, search)));
}

/**
 * Adds the atoms that replace one of the first atoms and were not found themselves, each before the atom that it
 * replaces, if the filters let it through.
 *
 * @param limit number of the first atoms
 */
export async function withReplacing(
  db: Db,
  scope: SearchScope,
  ranked: readonly Ranked[],
  limit: number,
): Promise<readonly Ranked[]> {
  const placed = new Set(ranked.slice(0, MAX_POSITIONS).map(({ id }) => id));
  const wanted = ranked.slice(0, Math.min(limit, MAX_POSITIONS)).flatMap(({ replacedBy }) => replacedBy ?? []);
  const absent = [...new Set(wanted)].filter((id) => !placed.has(id));
  if (absent.length === 0) return ranked;
  const { rows } = await sql<RankedColumns>`${preparedStatement}
    select ${RANKED_COLUMNS} from unnest(${absent}::uuid[]) known (id) cross join lateral (
      select a.id, a.importance, a.created_at, a.updated_at from atoms a
      where a.id = known.id and ${candidateCondition(scope)} offset 0
    ) a`.execute(db);
  const found = new Map(rows.map((row) => [row.id, toRankedRow(row)]));
  const others = ranked.filter(({ id }) => !found.has(id));
  return others.flatMap((old) => {
    const by = found.get(old.replacedBy ?? "");
    if (by === undefined) return [old];
    found.delete(by.id);
    const { rank, closeness, match } = old;
    return [{ ...by, rank, closeness, match }, old];
  });
}

/** Marks each atom with the id of the atom that replaces it, if any. */
export async function markReplaced(
  db: Db,
  { reach, filter, hasReplacing }: SearchScope,
  ranked: readonly Ranked[],
): Promise<readonly Ranked[]> {
  if (!hasReplacing) return ranked;
  const ids = ranked.map(({ id }) => id);
  const replacements = await findReplacements(db, reach, ids, filter);
  return replacements.size === 0 ? ranked : ranked.map((atom) => ({ ...atom, replacedBy: replacements.get(atom.id) }));
}

async function orderByTime(
  db: Db,
  ranked: readonly Ranked[],
  { scope, sample }: Pick<Topic, "scope" | "sample">,
  { query, meaning = [] }: Pick<Search, "query" | "meaning">,
): Promise<readonly Ranked[]> {
  if (ranked.length < 2) return ranked;
  const first = ranked.slice(0, MAX_POSITIONS);
  const ids = first.map(({ id }) => id);
  const { rows } = await sql<{ id: string } & Read>`${preparedStatement}
    select a.id::text, left(a.content, ${MAX_BEGINNING}::integer) as text, ${validThen(scope.filter)} as "isValid",
      coalesce(a.source = ${EXTRACTED}::text, false) as "isExtracted"
    from unnest(${ids}::uuid[]) placed (id) cross join lateral (
      select a.id, a.content, a.source, a.valid_from, a.valid_to from atoms a where a.id = placed.id offset 0) a`.execute(
    db,
  );
  const read = new Map(rows.map(({ id, ...atom }) => [id, atom]));
  const asksAbout = isQuestion(query);
  const ordered = await newerFirst(
    first.map((atom) => ({ ...atom, ...(read.get(atom.id) ?? GONE) })),
    {
      sample,
      query,
      isQuestion: asksAbout,
      alike: meaning.length === 0 ? () => undefined : await compareMeanings(db, ids, MAX_GIVING_WAY),
    },
  );
  const placed = writtenFirst(validFirst(ordered));
  const named = asksAbout ? placed : namedFirst(placed, query);
  return [...named.map(({ text, isValid, isExtracted, ...atom }) => atom), ...ranked.slice(MAX_POSITIONS)];
}

/** Fields that are read of an atom to find its position; {@link GONE} for an atom that was deleted meanwhile. */
type Read = { readonly text: string; readonly isValid: boolean; readonly isExtracted: boolean };
const GONE: Read = { text: "", isValid: true, isExtracted: false };

/** Reads the ranked atoms with their text, up to the size of the page, without atoms that were deleted meanwhile. */
export async function readRankedAtoms(
  db: Db,
  reach: Reach,
  ranked: readonly RankedAtom[],
  size: PageSize,
): Promise<{ found: (Omit<RankedAtom, "id"> & { atom: Atom })[]; cut: readonly string[] }> {
  const ids = ranked.map(({ id }) => id);
  const { atoms, cut } = await readInOrder(db, reach, ids, size);
  const ranks = new Map(ranked.map(({ id, rank, match, replacedBy }) => [id, { rank, match, replacedBy }]));
  const found = atoms.flatMap((atom) => {
    const rank = ranks.get(atom.id);
    return rank === undefined ? [] : [{ atom, ...rank }];
  });
  return { found, cut };
}
