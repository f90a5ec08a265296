import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import type { Atom, Reach } from "./atom.ts";
import { type AtomRow, atomColumns, atomOf, reachable, toAtom } from "./atoms.ts";
import {
  candidates,
  matches,
  resolveScope,
  SEARCH_BOUNDS,
  type SearchBounds,
  type SearchFilter,
} from "./candidates.ts";
import { UNEXPIRED } from "./expired-atoms.ts";
import { parseTextQuery, printTextQuery, wantedLexemesOf } from "./index-condition.ts";

/** An atom that a search found. */
type AtomHit = {
  readonly atom: Atom;
  /** Higher is closer; only to be compared within one answer. */
  readonly rank: number;
  /** Passages around what was found, the words themselves between `**`. Plain text, not fit for HTML as it is. */
  readonly snippet: string;
};

type Search = SearchFilter & {
  /** As people type it: words, `"phrases"`, `or`, `-not`. */
  readonly query: string;
  readonly limit: number;
};

/**
 * Snippets are cut from the beginning of a long atom: a query of 100 words on 100 long ones would take seconds (threats
 * b61).
 */
const SNIPPET_SOURCE = 2_000;
const SNIPPET = "StartSel=**, StopSel=**, MaxFragments=2, MinWords=8, MaxWords=30, FragmentDelimiter=' … '";

/** An importance of 10 weighs twice one of 0, and what is a month old half as much as what is new. */
const RECALL_SCORE: RawBuilder<unknown> = sql`ts_rank(a.search, wanted.q) * (1 + a.importance / 10)
  * power(0.5, least(extract(epoch from (now() - a.updated_at))::float8 / 2592000, 20))`;

/** An atom may be a candidate of each source: the index, the newest, the most important. */
const SOURCES = 3;

/**
 * Any of the words that are wanted: what a snippet is chosen by. Before PostgreSQL 16 `ts_headline` tries each two
 * places of a text as the ends of a passage, which takes seconds by a query of phrases (threats b61).
 */
function wordsOf(printed: string): string {
  const query = parseTextQuery(printed);
  const words = query === undefined ? [] : wantedLexemesOf(query);
  return words.map((lexeme) => printTextQuery({ kind: "word", lexeme })).join(" | ");
}

/** The atoms that a full-text query finds, the closest first. Only rows of the reach are ranked (threats b60). */
export async function searchAtoms(
  db: Db,
  reach: Reach,
  search: Search,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<AtomHit[]> {
  return withOrderedPlans(db, async (tx) => {
    const asked = sql`websearch_to_tsquery('english', ${search.query})`;
    const scope = await resolveScope(tx, reach, asked, search);
    const found = await candidates(tx, scope, bounds);
    if (found === undefined) return [];
    const { rows } = await sql<AtomRow & { rank: number; snippet: string }>`
      with wanted as (select ${scope.query}::tsquery as q),
      ranked as (
        select a.id, ts_rank(a.search, wanted.q)::float8 as rank
        from ${found} a, wanted where ${matches(scope)}
        order by rank desc, a.importance desc, a.created_at desc, a.id desc
        limit ${search.limit * SOURCES}
      ),
      hits as (
        select a.*, best.rank from (select id, max(rank) as rank from ranked group by id) best
          cross join lateral ${atomOf(sql`best.id`, reach)} a
        order by best.rank desc, a.importance desc, a.created_at desc, a.id desc
        limit ${search.limit}
      )
      select hits.*, ts_headline('english', left(hits.content, ${SNIPPET_SOURCE}::integer), ${wordsOf(scope.query)}::tsquery,
        ${SNIPPET}) as snippet
      from hits
      order by hits.rank desc, hits.importance desc, hits.created_at desc, hits.id desc`.execute(tx);
    return rows.map((row) => ({ atom: toAtom(row), rank: row.rank, snippet: row.snippet }));
  });
}

/**
 * What is worth knowing about a topic: atoms that share any of its words, the closest first, the important and the
 * recent before the others.
 */
export async function recallAtoms(
  db: Db,
  reach: Reach,
  search: Search,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<Atom[]> {
  return withOrderedPlans(db, async (tx) => {
    // plainto_tsquery joins the words by `&`; a lexeme that holds one itself is only looked for in another spelling.
    const asked = sql`replace(plainto_tsquery('english', ${search.query})::text, '&', '|')::tsquery`;
    const scope = await resolveScope(tx, reach, asked, search);
    const found = await candidates(tx, scope, bounds);
    if (found === undefined) return [];
    const { rows } = await sql<AtomRow>`
      with wanted as (select ${scope.query}::tsquery as q),
      ranked as (
        select a.id, ${RECALL_SCORE} as score from ${found} a, wanted where ${matches(scope)}
        order by score desc, a.id desc
        limit ${search.limit * SOURCES}
      )
      select a.* from (select id, max(score) as score from ranked group by id) best
        cross join lateral ${atomOf(sql`best.id`, reach)} a
      order by best.score desc, a.id desc
      limit ${search.limit}`.execute(tx);
    return rows.map(toAtom);
  });
}

/** The most important atoms of one library, the last corrected first among equals. */
export async function importantAtoms(db: Db, reach: Reach, libraryId: string, limit: number): Promise<Atom[]> {
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<AtomRow>`
      select ${atomColumns(reach)} from libraries l cross join lateral (
        select * from atoms a where a.library_id = l.id and ${UNEXPIRED}
        order by a.importance desc, a.updated_at desc, a.id desc limit ${limit}
      ) a
      where ${reachable(reach)} and l.id = ${libraryId}
      order by a.importance desc, a.updated_at desc, a.id desc`.execute(tx),
  );
  return rows.map(toAtom);
}

/** Counted no further: an exact count reads every row. */
const MAX_COUNTED = 1_000;

/** How many atoms a library holds; of a large one, that there are more than were counted. */
type AtomCount = { readonly atoms: number; readonly isMore: boolean };

export async function countAtoms(db: Db, reach: Reach, libraryId: string): Promise<AtomCount> {
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<{ atoms: number }>`
      select count(*)::integer as atoms from libraries l cross join lateral (
        select a.team_id, a.library_id, a.expires_at from atoms a where a.library_id = l.id and ${UNEXPIRED}
        order by a.created_at desc, a.id desc limit ${MAX_COUNTED + 1}
      ) a
      where ${reachable(reach)} and l.id = ${libraryId}`.execute(tx),
  );
  const atoms = rows[0]?.atoms ?? 0;
  return { atoms: Math.min(atoms, MAX_COUNTED), isMore: atoms > MAX_COUNTED };
}
