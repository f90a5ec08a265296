import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import { ATOM_COLUMNS, ATOMS_IN_LIBRARIES, type Atom, type AtomRow, type Reach, reachable, toAtom } from "./atoms.ts";

/** An atom that a search found. */
export type AtomHit = {
  readonly atom: Atom;
  /** Higher is closer; only to be compared within one answer. */
  readonly rank: number;
  /** Passages around what was found, the words themselves between `**`. Plain text, not fit for HTML as it is. */
  readonly snippet: string;
};

type Search = {
  /** As people type it: words, `"phrases"`, `or`, `-not`. */
  readonly query: string;
  readonly libraryId: string | null;
  /** The atom has all of them. */
  readonly tags: readonly string[];
  readonly limit: number;
};

/** Snippets are cut from the beginning of a long atom: a query of 100 words on 100 long ones would take seconds (b61). */
const SNIPPET_SOURCE = 2_000;
const SNIPPET = "StartSel=**, StopSel=**, MaxFragments=2, MinWords=8, MaxWords=30, FragmentDelimiter=' … '";

/** An importance of 10 weighs twice one of 0, and what is a month old half as much as what is new. */
const RECALL_SCORE: RawBuilder<unknown> = sql`ts_rank(a.search, wanted.q) * (1 + a.importance / 10)
  * power(0.5, least(extract(epoch from (now() - a.updated_at))::float8 / 2592000, 20))`;

function within(search: { libraryId: string | null; tags: readonly string[] }): RawBuilder<unknown> {
  return sql`${search.libraryId === null ? sql`` : sql`and a.library_id = ${search.libraryId}`}
    ${search.tags.length === 0 ? sql`` : sql`and a.tags @> ${[...search.tags]}::text[]`}`;
}

/** The atoms that a full-text query finds, the closest first. Only rows of the reach are ranked (b60). */
export async function searchAtoms(db: QueryExecutorProvider, reach: Reach, search: Search): Promise<AtomHit[]> {
  const { rows } = await sql<AtomRow & { rank: number; snippet: string }>`
    with wanted as (select websearch_to_tsquery('english', ${search.query}) as q),
    hits as (
      select ${ATOM_COLUMNS}, ts_rank(a.search, wanted.q)::float8 as rank, a.created_at
      from ${ATOMS_IN_LIBRARIES}, wanted
      where a.search @@ wanted.q and ${reachable(reach)} ${within(search)}
      order by rank desc, a.importance desc, a.created_at desc, a.id desc
      limit ${search.limit}
    )
    select hits.*, ts_headline('english', left(hits.content, ${SNIPPET_SOURCE}::integer), wanted.q, ${SNIPPET}) as snippet
    from hits, wanted
    order by hits.rank desc, hits.importance desc, hits.created_at desc, hits.id desc`.execute(db);
  return rows.map((row) => ({ atom: toAtom(row), rank: row.rank, snippet: row.snippet }));
}

/**
 * What is worth knowing about a topic: atoms that share any of its words, the closest first, the important and the
 * recent before the others.
 */
export async function recallAtoms(db: QueryExecutorProvider, reach: Reach, search: Search): Promise<Atom[]> {
  // plainto_tsquery joins the words by `&`; a lexeme that holds one itself is only looked for in another spelling.
  const { rows } = await sql<AtomRow>`
    with wanted as (select replace(plainto_tsquery('english', ${search.query})::text, '&', '|')::tsquery as q)
    select ${ATOM_COLUMNS} from ${ATOMS_IN_LIBRARIES}, wanted
    where a.search @@ wanted.q and ${reachable(reach)} ${within(search)}
    order by ${RECALL_SCORE} desc, a.id desc
    limit ${search.limit}`.execute(db);
  return rows.map(toAtom);
}

/** The most important atoms of one library, the last corrected first among equals. */
export async function importantAtoms(
  db: QueryExecutorProvider,
  reach: Reach,
  libraryId: string,
  limit: number,
): Promise<Atom[]> {
  const { rows } = await sql<AtomRow>`
    select ${ATOM_COLUMNS} from ${ATOMS_IN_LIBRARIES}
    where ${reachable(reach)} and a.library_id = ${libraryId}
    order by a.importance desc, a.updated_at desc, a.id desc
    limit ${limit}`.execute(db);
  return rows.map(toAtom);
}

/** How many atoms a library holds. */
export async function countAtoms(db: QueryExecutorProvider, reach: Reach, libraryId: string): Promise<number> {
  const { rows } = await sql<{ atoms: number }>`
    select count(*)::integer as atoms from ${ATOMS_IN_LIBRARIES}
    where ${reachable(reach)} and a.library_id = ${libraryId}`.execute(db);
  return rows[0]?.atoms ?? 0;
}
