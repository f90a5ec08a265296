import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../../../../store/database/change.ts";
import { preparedStatement } from "../../../../store/database/prepared-statement.ts";
import { indexedTags } from "../../rows/atom-filter.ts";
import { owners } from "../../rows/atom-terms.ts";
import { printTextQuery, type TextQuery } from "../../rows/text-query.ts";
import { quoted, type SearchWords } from "../words/search-words.ts";
import {
  beginningOf,
  conditionOfAll,
  conditionOfAny,
  type ShareOfCondition,
  shareIn,
  type WantedWord,
  wantedWords,
} from "../words/similar-condition.ts";
import { type Likeness, similarity } from "../words/similarity.ts";
import { yieldBetweenTexts } from "../words/yield-between-texts.ts";
import { atRandom, byMetadata, firstOfEach } from "./candidate-sources.ts";
import type { Frequencies } from "./frequencies.ts";
import { RANKED_COLUMNS, type RankedColumns, type RankedRow, toRankedRow } from "./ranked-row.ts";
import type { AtomSearchBounds } from "./search-bounds.ts";
import { candidateCondition, type SearchScope } from "./search-scope.ts";

type SimilarAtom = SimilarText & Likeness;

/** Characters that are read of an atom of the sample. */
const SAMPLE_TEXT = 1_000;

/** Text of an atom that is searched. */
export const SEARCHED_TEXT = sql`a.content || ' ' || coalesce(a.source, '') || ' ' || array_to_string(a.tags, ' ')`;
const COLUMNS = sql`a.id, a.team_id, a.library_id, a.content, a.source, a.tags, a.search, a.importance, a.created_at,
  a.updated_at, a.expires_at, a.valid_from, a.valid_to, a.metadata`;
/** Expression of the index `atoms_parts`. */
const ATOM_PARTS = sql`atom_parts(a.team_id, a.library_id, a.tags, a.content, a.source)`;

/** Words, and their shares, by which the atoms of a scope are compared with a search. */
export type Comparison = {
  readonly search: SearchWords;
  /** Words of the search, the rarest first. */
  readonly words: readonly WantedWord[];
  readonly share: ShareOfCondition;
};

/**
 * Number of words of a topic that atoms are compared with, the rarest ones: more words take as much longer. Pairs of
 * characters are not limited: most of a sentence's stand across two words, and in no atom.
 */
const MAX_TOPIC_WORDS = 12;

/** Reads a sample of the libraries' texts, to estimate the frequencies of words and of their parts. */
export async function sampleTexts(tx: Tx, scope: SearchScope, bounds: AtomSearchBounds): Promise<string[]> {
  if (scope.libraryIds.length === 0) return [];
  // To count characters takes the database longer than to send a few more, which are cut off here.
  const content = sql`case when octet_length(a.content) <= ${2 * SAMPLE_TEXT}::integer then a.content
    else left(a.content, ${SAMPLE_TEXT}::integer) end`;
  const text = sql`a.team_id, ${content} || ' ' || coalesce(a.source, '') || ' ' || array_to_string(a.tags, ' ') as text`;
  const sample = atRandom(scope, text, bounds.similarSample);
  const { rows } = await sql<{ text: string }>`${preparedStatement} select a.text from (${sample}) a`.execute(tx);
  return rows.map((row) => row.text.slice(0, SAMPLE_TEXT));
}

/** Scope and words of a search, and the frequencies of words there. */
export type Topic = {
  readonly scope: SearchScope;
  readonly words: SearchWords;
  readonly frequencies: Frequencies;
  /** Texts of a sample of the scope's atoms, as {@link sampleTexts} returns them. */
  readonly sample: readonly string[];
};

/** Prepares the comparison of atoms with a search. */
export function prepareComparison({ scope, words: search, frequencies, sample }: Topic): Comparison {
  const share = shareIn(sample);
  const shareOf = (word: string) => frequencies.share(scope.lexemes.get(word) ?? word);
  return { search, share, words: wantedWords(search.wanted, share, shareOf) };
}

/** Words that an atom must have: all of them, or any. */
export type MatchMode = "all" | "any";

type SimilarSearch = {
  readonly of: MatchMode;
  /** Number of atoms that are read from each source. */
  readonly most: number;
  /** Ids of further atoms to read. */
  readonly known?: readonly string[];
  /** Words by which other atoms are looked for; all words if left out. */
  readonly sought?: readonly WantedWord[];
  readonly bounds: AtomSearchBounds;
};

/** Atom that may be like the search, with its text. */
export type SimilarText = RankedRow & { readonly text: string };

/**
 * Reads the atoms to be compared with a search: the atoms that the index gives, and the newest atoms if it does not
 * answer alone. The number of rows that are read is bounded.
 */
export async function similarTexts(
  tx: Tx,
  scope: SearchScope,
  { search, words: all, share }: Comparison,
  { of, most, known = [], sought = all, bounds }: SimilarSearch,
): Promise<SimilarText[]> {
  if (search.wanted.length === 0 || scope.libraryIds.length === 0) return [];
  const asked = of === "all" ? conditionOfAll(sought, share) : conditionOfAny(rarestOfTopic(sought));
  const wanted = sql`${candidateCondition(scope)} ${exceptFor(search.excluded)}`;
  // Where atoms are known, the newest that have its frequent words are among them.
  const isAnswered = sought.length === 0 || (asked !== null && (asked.isComplete || known.length > 0));
  const { metadata } = scope.filter;
  const within = (source: RawBuilder<unknown>) => sql`(select a.* from (${source}) a where ${wanted} limit ${most})`;
  // For a single word, no atom has more of the words than another.
  const best = (source: RawBuilder<unknown>) =>
    search.wanted.length === 1 ? within(source) : mostOfWords(source, sought, { wanted, most, bounds });
  const sources = [
    sql`(select a.* from (${byIds(known)}) a where ${wanted})`,
    asked && best(byParts(scope, asked.condition, bounds)),
    isAnswered || metadata === undefined ? null : within(byMetadata(scope, metadata, COLUMNS, bounds)),
    isAnswered ? null : within(firstOfEach(scope, COLUMNS, "newest", most)),
  ].filter((source) => source !== null);
  const { rows } = await sql<RankedColumns & { text: string }>`${preparedStatement}
    select ${RANKED_COLUMNS}, ${SEARCHED_TEXT} as text
    from (
      select a.*, sum(octet_length(a.content)) over (rows unbounded preceding) as bytes
      from (${sql.join(sources, sql` union all `)}) a
    ) a where a.bytes <= ${bounds.similarBytes}::bigint`.execute(tx);
  return rows.map(({ text, ...row }) => ({ ...toRankedRow(row), text }));
}

/** Compares atoms with a search: each once, in no order. */
export async function compareTexts(
  { search, words }: Comparison,
  of: MatchMode,
  texts: readonly SimilarText[],
): Promise<SimilarAtom[]> {
  const compare = similarity(of === "all" ? words : rarestOfTopic(words), search.phrases, of);
  const compared = new Map<string, SimilarAtom>();
  const yieldBefore = yieldBetweenTexts();
  for (const atom of texts) {
    if (compared.has(atom.id)) continue;
    await yieldBefore(atom.text);
    compared.set(atom.id, { ...atom, ...compare(atom.text) });
  }
  return [...compared.values()];
}

/** Returns the words of a topic that atoms are compared with, of those that are given the rarest first. */
export function rarestOfTopic(words: readonly WantedWord[]): WantedWord[] {
  let left = MAX_TOPIC_WORDS;
  return words.filter(({ word }) => word.kind === "run" || left-- > 0);
}

function byIds(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select a.* from unnest(${[...ids]}::uuid[]) known (id) cross join lateral (
    select ${COLUMNS} from atoms a where a.id = known.id offset 0) a`;
}

/**
 * Returns the atoms of a source that have the most of the words; rare words count more. A word counts as present if its
 * first half is: this chooses the atoms that are compared, and not their positions in an answer.
 */
function mostOfWords(
  source: RawBuilder<unknown>,
  words: readonly WantedWord[],
  { wanted, most, bounds }: { wanted: RawBuilder<unknown>; most: number; bounds: AtomSearchBounds },
): RawBuilder<unknown> {
  const beginnings = words.map(({ word }) => (word.kind === "run" ? word.text : beginningOf(word.text)));
  const weights = words.map(({ rarity }) => rarity);
  return sql`(select ${COLUMNS} from (
      select a.*, sum(octet_length(a.content)) over (rows unbounded preceding) as bytes
      from (${source}) a where ${wanted}
    ) a cross join lateral (
      select coalesce(sum(weight), 0) as weight from (select folded_text(${SEARCHED_TEXT}) as text offset 0) own,
        unnest(${beginnings}::text[], ${weights}::float8[]) word (beginning, weight)
      where strpos(text, beginning) > 0
    ) has
    where a.bytes <= ${bounds.similarBytes}::bigint order by has.weight desc, a.updated_at desc, a.id limit ${most})`;
}

/**
 * Returns the atoms that the index of parts of words gives. It holds each atom's team, library and tags beside its
 * parts: no other team's rows are read.
 */
function byParts(scope: SearchScope, condition: TextQuery, bounds: AtomSearchBounds): RawBuilder<unknown> {
  const tags = indexedTags(scope.filter);
  const asked: TextQuery = { kind: "and", of: [owners(scope.reach, scope.libraryIds), ...tags, condition] };
  return sql`select ${COLUMNS} from atoms a where ${ATOM_PARTS} @@ ${printTextQuery(asked)}::tsquery limit ${bounds.indexed}`;
}

function exceptFor(excluded: readonly string[]): RawBuilder<unknown> {
  if (excluded.length === 0) return sql``;
  return sql`and not a.search @@ websearch_to_tsquery('english', ${excluded.map(quoted).join(" or ")})`;
}
