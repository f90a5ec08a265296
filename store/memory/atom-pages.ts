import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import type { AtomPosition, Reach } from "./atom.ts";
import { ATOM_TERMS, owners } from "./candidates.ts";
import { UNEXPIRED } from "./expired-atoms.ts";
import { printTextQuery } from "./index-condition.ts";

/** What one statement of a page looks at. */
export type PageBounds = {
  /** Atoms with a tag that are sorted for a page; where there are more, the list is walked instead. */
  readonly tagged: number;
  /** Atoms of the list that one step of the walk looks at. */
  readonly walked: number;
};

export const PAGE_BOUNDS: PageBounds = { tagged: 3_000, walked: 4_000 };
/** Atoms of a step, however many libraries there are. */
const MIN_STEP = 50;

/** The libraries of a page, which the caller may reach, and where it begins. */
type AtomList = {
  readonly reach: Reach;
  readonly libraryId: string | null;
  readonly after: AtomPosition | null;
};

/** The atoms of a list that have a tag. */
type TaggedList = AtomList & { readonly tag: string };

/** The libraries of a list that are active. */
function librariesOf({ reach, libraryId }: AtomList): RawBuilder<unknown> {
  return sql`l.team_id = ${reach.teamId} and l.state = 'active' and (${libraryId}::text is null or l.id = ${libraryId})
    and (${reach.libraryIds}::text[] is null or l.id = any(${reach.libraryIds}::text[]))`;
}

/**
 * A relation of the first atoms of a list, newest first, joined to their libraries: each library gives its own first,
 * in the order of its index, so that none is read through for another's.
 */
export function newestOf(list: AtomList, limit: number): RawBuilder<unknown> {
  const after = list.after;
  return sql`libraries l cross join lateral (
      select * from atoms a where a.library_id = l.id and ${UNEXPIRED}
        ${after === null ? sql`` : sql`and (a.created_at, a.id) < (${new Date(after.at)}::timestamptz, ${after.id}::uuid)`}
      order by a.created_at desc, a.id desc limit ${limit}
    ) a where ${librariesOf(list)} and a.team_id = l.team_id
    order by a.created_at desc, a.id desc limit ${limit}`;
}

/**
 * The ids of the first atoms of a list that have a tag. A tag that few have is answered by the index; for the others
 * the list is walked, a bounded step for each transaction, so that whoever else waits for the database gets in between.
 */
export async function idsWithTag(
  db: Db,
  list: TaggedList,
  limit: number,
  bounds: PageBounds = PAGE_BOUNDS,
): Promise<string[]> {
  const { found, libraries } = await withOrderedPlans(db, (tx) => askIndex(tx, list, limit, bounds));
  if (found !== null) return found;
  // Each library gives as many as the step takes in all.
  const step = Math.max(MIN_STEP, Math.ceil(bounds.walked / libraries));
  const ids: string[] = [];
  let after = list.after;
  do {
    const from = { ...list, after };
    const walked = await withOrderedPlans(db, (tx) => walkOn(tx, from, limit - ids.length, step));
    ids.push(...walked.ids);
    after = walked.last;
  } while (after !== null && ids.length < limit);
  return ids;
}

/** Finds null when too many atoms have the tag. */
async function askIndex(
  tx: Tx,
  list: TaggedList,
  limit: number,
  bounds: PageBounds,
): Promise<{ found: string[] | null; libraries: number }> {
  const { rows: libraries } = await sql<{ id: string }>`
    select l.id from libraries l where ${librariesOf(list)} order by l.id`.execute(tx);
  const libraryIds = libraries.map(({ id }) => id);
  if (libraryIds.length === 0) return { found: [], libraries: 0 };
  const condition = {
    kind: "and",
    of: [owners(list.reach, libraryIds), { kind: "word", lexeme: `tag ${list.tag}` }],
  } as const;
  const after = list.after;
  const { rows } = await sql<{ tagged: number; ids: string[] }>`
    with tagged as materialized (
      select a.id, a.library_id, a.team_id, a.created_at, a.expires_at from atoms a
      where ${ATOM_TERMS} @@ ${printTextQuery(condition)}::tsquery limit ${bounds.tagged + 1}
    )
    select (select count(*)::integer from tagged) as tagged, array(
      select a.id::text from tagged a
      where a.team_id = ${list.reach.teamId} and a.library_id = any(${libraryIds}::text[]) and ${UNEXPIRED}
        ${after === null ? sql`` : sql`and (a.created_at, a.id) < (${new Date(after.at)}::timestamptz, ${after.id}::uuid)`}
      order by a.created_at desc, a.id desc limit ${limit}) as ids`.execute(tx);
  const [{ tagged, ids } = { tagged: 0, ids: [] }] = rows;
  return { found: tagged > bounds.tagged ? null : ids, libraries: libraryIds.length };
}

type Walked = { readonly ids: string[]; readonly last: AtomPosition | null };

/** The atoms with the tag among the next of a list, and the last of those looked at; null at the list's end. */
async function walkOn(tx: Tx, list: TaggedList, limit: number, step: number): Promise<Walked> {
  const { rows } = await sql<{ ids: string[]; looked: number; at: number | null; id: string | null }>`
    with looked as materialized (select a.id, a.created_at, a.tags from ${newestOf(list, step)})
    select array(
        select a.id::text from looked a where a.tags @> ${[list.tag]}::text[]
        order by a.created_at desc, a.id desc limit ${limit}) as ids,
      (select count(*)::integer from looked) as looked, final.at, final.id::text
    from (select) one left join lateral (
      select extract(epoch from created_at)::float8 * 1000 as at, id from looked order by created_at, looked.id limit 1
    ) final on true`.execute(tx);
  const [{ ids, looked, at, id } = { ids: [], looked: 0, at: null, id: null }] = rows;
  const isEnd = looked < step || at === null || id === null;
  return { ids, last: isEnd ? null : { at: Math.round(at), id } };
}
