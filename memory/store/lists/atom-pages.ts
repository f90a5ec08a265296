import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { askByBitmaps } from "../../../store/database/bitmap-plans.ts";
import type { Db, Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { isAskedFor } from "../../../store/libraries/reachable-libraries.ts";
import type { AtomPosition } from "../rows/atom.ts";
import { hasFacts, linkFact, metadataFacts } from "../rows/atom-facts.ts";
import { type AtomFilter, changedWithin, indexedTags, madeWithin, passes } from "../rows/atom-filter.ts";
import { orderOf, type Sort } from "../rows/atom-order.ts";
import { ATOM_TERMS, owners } from "../rows/atom-terms.ts";
import { UNEXPIRED } from "../rows/expired-atoms.ts";
import { printTextQuery, type TextQuery } from "../rows/text-query.ts";

/** Limits on the atoms that the statements for one page read. */
export type AtomPageBounds = {
  /** Atoms that an index gives to be sorted for a page; if there are more, the list is walked instead. */
  readonly indexed: number;
  /** Atoms of the list that a step of the walk looks at. */
  readonly walked: number;
  /** Steps after which the walk stops in any case; left out: it goes on until the page is full or the list ends. */
  readonly steps?: number;
};

export const ATOM_PAGE_BOUNDS: AtomPageBounds = { indexed: 3_000, walked: 4_000 };
/** Lowest number of atoms in a step, however many libraries there are. */
const MIN_STEP = 50;

/** Filter of a list: by the atoms themselves, and by their links to one atom. */
export type AtomListFilter = AtomFilter & {
  /** Keeps the neighbours of the atom `id`: `linked`, the atoms that it links to, and the atoms that link to it. */
  readonly neighbourOf?: { readonly id: string; readonly linked: readonly string[] } | undefined;
};

/** List that a page is taken from: its libraries, of those that the caller may reach, its filter, order and start. */
export type AtomList = {
  readonly reach: Reach;
  readonly libraryId: string | null;
  readonly filter: AtomListFilter;
  readonly sort: Sort;
  readonly after: AtomPosition | null;
};

function behind({ sort, after }: AtomList): RawBuilder<unknown> {
  return after === null ? sql`` : sql`and ${orderOf(sort).behind(after)}`;
}

/**
 * Returns a relation of the first atoms of a list, in its order and whatever its filter, joined to their libraries.
 * Each library gives its own first atoms, in the order of its index, so that none is read through for another's.
 */
export function firstOf(list: AtomList, limit: number): RawBuilder<unknown> {
  const { by } = orderOf(list.sort);
  return sql`libraries l cross join lateral (
      select * from atoms a where a.library_id = l.id and ${UNEXPIRED} ${within(list)} ${behind(list)}
      order by ${by} limit ${limit}
    ) a where ${isAskedFor(list.reach, list.libraryId)} and a.team_id = l.team_id
    order by ${by} limit ${limit}`;
}

/** Returns the condition on a filter's times that the order's index answers, so that no others are walked. */
function within({ sort, filter }: AtomList): RawBuilder<unknown> {
  if (sort === "updated") return sql`and ${changedWithin(filter)}`;
  return sort === "importance" ? sql`` : sql`and ${madeWithin(filter)}`;
}

/**
 * Returns the ids of the first atoms of a list that pass its filter. If few atoms can pass, an index answers; else the
 * list is walked, a bounded step for each transaction, so that other callers of the database get in between.
 */
export async function idsOf(
  db: Db,
  list: AtomList,
  limit: number,
  bounds: AtomPageBounds = ATOM_PAGE_BOUNDS,
): Promise<string[]> {
  const { found, libraries } = await withOrderedPlans(db, (tx) => askIndexes(tx, list, limit, bounds));
  if (found !== null) return found;
  // Each library gives as many as the step takes in all.
  const step = Math.max(MIN_STEP, Math.ceil(bounds.walked / libraries));
  const ids: string[] = [];
  let after = list.after;
  let steps = 0;
  do {
    const from = { ...list, after };
    const walked = await withOrderedPlans(db, (tx) => walkOn(tx, from, limit - ids.length, step));
    ids.push(...walked.ids);
    after = walked.last;
    steps++;
  } while (after !== null && ids.length < limit && steps < (bounds.steps ?? Number.POSITIVE_INFINITY));
  return ids;
}

/** Answers a page from the indexes. `found` is null if each index has too many atoms, or none can answer the filter. */
async function askIndexes(
  tx: Tx,
  list: AtomList,
  limit: number,
  bounds: AtomPageBounds,
): Promise<{ found: string[] | null; libraries: number }> {
  const { rows: libraries } = await sql<{ id: string }>`${preparedStatement}
    select l.id from libraries l where ${isAskedFor(list.reach, list.libraryId)} order by l.id`.execute(tx);
  const libraryIds = libraries.map(({ id }) => id);
  if (libraryIds.length === 0) return { found: [], libraries: 0 };
  const sources = indexed(list, owners(list.reach, libraryIds), bounds.indexed + 1);
  if (sources.length > 0) await askByBitmaps(tx);
  for (const source of sources) {
    const { rows } = await sql<{ indexed: number; ids: string[] }>`${preparedStatement}
      with indexed as materialized (${source})
      select (select count(*)::integer from indexed) as indexed, array(
        select a.id::text from indexed a
        where a.team_id = ${list.reach.teamId} and a.library_id = any(${libraryIds}::text[]) and ${UNEXPIRED}
          and ${isListed(list)} ${behind(list)}
        order by ${orderOf(list.sort).by} limit ${limit}) as ids`.execute(tx);
    const [{ indexed, ids } = { indexed: 0, ids: [] }] = rows;
    if (indexed <= bounds.indexed) return { found: ids, libraries: libraryIds.length };
  }
  return { found: null, libraries: libraryIds.length };
}

/**
 * Returns relations of the atoms that may pass the filter, one for each index that can answer it, to be tried in order.
 */
function indexed({ filter }: AtomList, owned: TextQuery, limit: number): RawBuilder<unknown>[] {
  const { neighbourOf, metadata } = filter;
  const tags = indexedTags(filter);
  const having = (condition: RawBuilder<unknown>) =>
    sql`(select ${LISTED} from atoms a where ${condition} limit ${limit})`;
  return [
    neighbourOf &&
      sql`${having(sql`a.id = any(${neighbourOf.linked}::uuid[])`)}
        union all ${having(sql`${hasFacts(owned, linkFact(neighbourOf.id))} and a.id <> all(${neighbourOf.linked}::uuid[])`)}`,
    metadata && having(hasFacts(owned, metadataFacts(metadata))),
    tags.length > 0 && having(sql`${ATOM_TERMS} @@ ${printTextQuery({ kind: "and", of: [owned, ...tags] })}::tsquery`),
  ].filter((source) => typeof source === "object");
}

/** Returns the condition of an atom `a` that belongs to the list. */
function isListed({ filter: { neighbourOf, ...filter } }: AtomList): RawBuilder<unknown> {
  if (neighbourOf === undefined) return passes(filter);
  const { id, linked } = neighbourOf;
  return sql`${passes(filter)} and (a.id = any(${linked}::uuid[]) or a.links @> ${JSON.stringify([{ id }])}::jsonb)`;
}

/** Columns that a list reads of an atom: all but its text. */
const LISTED = sql`a.id, a.library_id, a.team_id, a.tags, a.source, a.importance, a.created_at, a.updated_at, a.expires_at,
  a.valid_from, a.valid_to, a.metadata, a.links`;

type Walked = { readonly ids: string[]; readonly last: AtomPosition | null };

/**
 * Walks the list one step further. Returns the ids of the atoms that pass, and the position of the last atom looked at,
 * null at the list's end.
 */
async function walkOn(tx: Tx, list: AtomList, limit: number, step: number): Promise<Walked> {
  const { by, reversed } = orderOf(list.sort);
  const time = list.sort === "newest" || list.sort === "oldest" ? sql`a.created_at` : sql`a.updated_at`;
  const { rows } = await sql<{
    ids: string[];
    looked: number;
    at: number | null;
    id: string | null;
    importance: number;
  }>`${preparedStatement}
    with looked as materialized (select ${LISTED} from ${firstOf(list, step)})
    select array(select a.id::text from looked a where ${isListed(list)} order by ${by} limit ${limit}) as ids,
      (select count(*)::integer from looked) as looked, final.at, final.id::text, final.importance
    from (select) one left join lateral (
      select extract(epoch from ${time})::float8 * 1000 as at, a.id, a.importance from looked a order by ${reversed} limit 1
    ) final on true`.execute(tx);
  const [{ ids, looked, at, id, importance } = { ids: [], looked: 0, at: null, id: null, importance: 0 }] = rows;
  const isEnd = looked < step || at === null || id === null;
  return { ids, last: isEnd ? null : { at: Math.round(at), id, importance } };
}
