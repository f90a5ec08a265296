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
import type { Frequencies } from "./candidates/frequencies.ts";
import { nearestAtoms, type QuestionVector } from "./candidates/nearest.ts";
import { RANKED_COLUMNS, type RankedColumns, type RankedRow, toRankedRow } from "./candidates/ranked-row.ts";
import { candidateCondition, type SearchFilter, type SearchScope } from "./candidates/search-scope.ts";
import { namedFirst } from "./ranking/named-first.ts";
import { MAX_GIVING_WAY, MAX_PLACES, newerFirst } from "./ranking/newer-first.ts";
import { replacedLast } from "./ranking/replaced-last.ts";
import { validFirst } from "./ranking/valid-first.ts";
import { writtenFirst } from "./ranking/written-first.ts";
import { readTopic, type SearchWords } from "./words/search-words.ts";

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
  /** Which of its passages means what is asked for, from 0 on, where the atom matches by its meaning alone. */
  readonly passage?: number;
  /** The atom that replaces it, where one does. */
  readonly replacedBy?: string | undefined;
};

export type Search = SearchFilter & {
  /** As people type it: words, `"phrases"`, `or`, `-not`. */
  readonly query: string;
  readonly limit: number;
  /** What the query means, where its words are not all; left out, or empty, for a search by words alone. */
  readonly meaning?: readonly QuestionVector[];
};

/** What is looked for, and what is known of where it is looked for. */
export type Topic = {
  readonly scope: SearchScope;
  readonly words: SearchWords;
  readonly frequencies: Frequencies;
  /** Texts of some atoms there, as `sampleTexts` has them. */
  readonly sample: readonly string[];
};

export type Ranked = RankedRow &
  RankedAtom & {
    /** How much it has of what is asked for, by whichever way it was found; only to be compared within one answer. */
    readonly closeness: number;
  };

export function byRank(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || b.importance - a.importance || b.createdMs - a.createdMs || byId(a, b);
}

export function byId(a: Ranked, b: Ranked): number {
  return a.id < b.id ? 1 : -1;
}

/** What means exactly what is asked for counts as much as what has this share of its words. */
const MEANING = 0.7;
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
      const known = atoms.get(near.id) ?? { ...near, rank: 0, closeness: 0, match: "meaning" };
      // The square: of a weak model nothing stands out, and its order is no better than chance.
      const meaning = MEANING * nearness ** 2;
      atoms.set(near.id, { ...known, rank: known.rank + meaning, closeness: known.closeness + meaning });
    }
  }
  return [...atoms.values()];
}

/** Of a longer atom so many characters show what it is about. */
const MAX_BEGINNING = 600;

/** So many words ask something, the frequent ones among them: fewer are looked up. */
const MIN_QUESTION = 5;

/**
 * The first places in the order of {@link newerFirst}, what is not valid in that of {@link validFirst}, what a model took
 * out of a conversation in that of {@link writtenFirst}, what has no name that is looked up in that of {@link namedFirst},
 * and what another atom replaces marked and in that of
 * {@link replacedLast}: where a writer says what is true no more, nothing is guessed.
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
 * The same atoms, with those that replace one of the first and have no word of what is asked for: each stands before the
 * one that it replaces, where the filters let it through.
 *
 * @param limit how many of the first
 */
export async function withReplacing(
  db: Db,
  scope: SearchScope,
  ranked: readonly Ranked[],
  limit: number,
): Promise<readonly Ranked[]> {
  const placed = new Set(ranked.slice(0, MAX_PLACES).map(({ id }) => id));
  const wanted = ranked.slice(0, Math.min(limit, MAX_PLACES)).flatMap(({ replacedBy }) => replacedBy ?? []);
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

/** The same atoms, each with the one that replaces it. */
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
  const first = ranked.slice(0, MAX_PLACES);
  const ids = first.map(({ id }) => id);
  const { rows } = await sql<{ id: string } & Read>`${preparedStatement}
    select a.id::text, left(a.content, ${MAX_BEGINNING}::integer) as text, ${validThen(scope.filter)} as "isValid",
      coalesce(a.source = ${EXTRACTED}::text, false) as "isExtracted"
    from unnest(${ids}::uuid[]) placed (id) cross join lateral (
      select a.id, a.content, a.source, a.valid_from, a.valid_to from atoms a where a.id = placed.id offset 0) a`.execute(
    db,
  );
  const read = new Map(rows.map(({ id, ...atom }) => [id, atom]));
  const isQuestion = readTopic(query).wanted.length >= MIN_QUESTION;
  const ordered = await newerFirst(
    first.map((atom) => ({ ...atom, ...(read.get(atom.id) ?? GONE) })),
    {
      sample,
      query,
      isQuestion,
      alike: meaning.length === 0 ? () => undefined : await compareMeanings(db, ids, MAX_GIVING_WAY),
    },
  );
  const placed = writtenFirst(validFirst(ordered));
  const named = isQuestion ? placed : namedFirst(placed, query);
  return [...named.map(({ text, isValid, isExtracted, ...atom }) => atom), ...ranked.slice(MAX_PLACES)];
}

/** What is read of an atom to give it its place; of one that went meanwhile, nothing. */
type Read = { readonly text: string; readonly isValid: boolean; readonly isExtracted: boolean };
const GONE: Read = { text: "", isValid: true, isExtracted: false };

/** The ranked atoms with their text, but those that went meanwhile, as far as there is room for them. */
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
