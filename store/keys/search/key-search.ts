import { type RawBuilder, sql } from "kysely";
import {
  type BoundedCount,
  countOfPage,
  countOfRows,
  countRows,
  MAX_COUNT,
  upToMostRows,
} from "../../database/bounded-count.ts";
import {
  type BoundedPage,
  findBoundedPage,
  PAGE_BOUNDS,
  type PageBounds,
  pageOfRows,
  type ScannedRows,
} from "../../database/bounded-page.ts";
import type { Db, Tx } from "../../database/change.ts";
import { withOrderedPlans } from "../../database/ordered-plans.ts";
import { isOfTeam } from "../../database/rows-of-team.ts";
import { unansweredStatement } from "../../database/unanswered.ts";
import { loadKeysById } from "../rows/key-rows.ts";
import { type CandidateBounds, candidatesOf } from "./key-candidates.ts";
import { isAnyKey, isWanted, type KeyCriteria } from "./key-criteria.ts";
import { type ListedKey, withoutDigests } from "./key-lists.ts";
import { type KeyOrder, type KeyPosition, orderSql } from "./key-orders.ts";

/** Search for keys. */
export type KeySearch = KeyCriteria & {
  readonly order: KeyOrder;
  /** Position of the last key of the previous page; read backward, of the first key of the following page. */
  readonly after: KeyPosition | undefined;
  /** True to find the keys before that position: the nearest of them, in the list's order. */
  readonly isBackward?: boolean;
  readonly limit: number;
};

/** Page of keys with their positions, and the position at which the next page begins (backward: the previous page). */
export type FoundKeys = BoundedPage<KeyPosition> & { readonly keys: readonly ListedKey[] };

/** Bounds on the work for one page, however many keys there are. */
export type KeySearchBounds = PageBounds & CandidateBounds;
const BOUNDS: KeySearchBounds = { ...PAGE_BOUNDS, namespaces: 2_000 };
/** Minimum number of keys of each team that are read at a time. */
const LEAST_OF_A_TEAM = 20;

/** Finds a page of keys in an order. */
export async function searchKeys(db: Db, search: KeySearch, bounds: KeySearchBounds = BOUNDS): Promise<FoundKeys> {
  const found = await findPositions(db, search, bounds);
  const positions = search.isBackward ? found.positions.toReversed() : found.positions;
  const ids = positions.map(({ id }) => id);
  return { ...found, positions, keys: await findKeys(db, ids) };
}

/** Finds the positions of the keys of a page, in the order in which they are read. */
export async function findPositions(
  db: Db,
  asked: KeySearch,
  bounds: KeySearchBounds = BOUNDS,
): Promise<BoundedPage<KeyPosition>> {
  const search = { ...asked, name: await inSmallLetters(db, asked.name) };
  return findBoundedPage(search.limit, bounds, {
    walk: (within) => walk(db, search, within),
    askIndex: () => askIndex(db, search, bounds),
  });
}

/** Positions of a page, and the number of keys that the search finds on all its pages. */
export type CountedPositions = BoundedPage<KeyPosition> & { readonly total: BoundedCount };

/**
 * Finds the first page of a search, and counts what it finds: exactly up to {@link MAX_COUNT}, by the same statements.
 */
export async function findFirstPage(
  db: Db,
  asked: KeySearch,
  bounds: KeySearchBounds = BOUNDS,
): Promise<CountedPositions> {
  const search = { ...asked, name: await inSmallLetters(db, asked.name), after: undefined };
  const indexed = await askIndex(db, search, bounds);
  if (indexed !== undefined) return { ...pageOfRows(indexed, search.limit), total: countOfRows(indexed.matching) };
  const counted = pageOfRows(await walk(db, { ...search, limit: MAX_COUNT }, bounds), MAX_COUNT);
  return { ...pageOfRows(counted, search.limit), total: countOfPage(counted) };
}

/** Finds a page of all keys, and counts them, in one statement. */
export async function findAnyPage(db: Db, search: KeySearch): Promise<CountedPositions> {
  const { limit, teamIds } = search;
  const total = upToMostRows(anyKeys(teamIds));
  const looked = await withOrderedPlans(db, (tx) => walkOn(tx, search, limit + 1, total));
  const [first, last] = [looked[0], looked.at(-1)];
  const next = last?.goesOn === true ? last : null;
  const page = pageOfRows({ positions: looked, next }, limit);
  // Behind the last key no row says how many there are.
  return { ...page, total: first === undefined ? await countAnyKeys(db, teamIds) : countOfRows(first.total ?? 0) };
}

/** Counts all keys of some teams; undefined for every team. */
export function countAnyKeys(db: Db, teamIds: KeySearch["teamIds"]): Promise<BoundedCount> {
  return countRows(db, anyKeys(teamIds));
}

function anyKeys(teamIds: KeySearch["teamIds"]): RawBuilder<unknown> {
  return sql`from keys ${teamIds === undefined ? sql`` : sql`where team_id = any(${teamIds}::text[])`}`;
}

/** Lower-cases a text as the database's `lower` does, which depends on its locale beyond ASCII. */
async function inSmallLetters(db: Db, text: string): Promise<string> {
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  const { rows } = await sql<{ text: string }>`select lower(${text}) as text`.execute(db);
  return rows[0]?.text ?? text;
}

/** Finds the keys with these ids, in this order. Leaves out keys that no longer exist. */
export async function findKeys(db: Db, ids: readonly string[]): Promise<ListedKey[]> {
  if (ids.length === 0) return [];
  const keys = await loadKeysById(db, ids);
  const byId = new Map(keys.map((key) => [key.id, withoutDigests(key)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Keys found by an index, and the number of keys that match, including those behind the page. */
type IndexedKeys = ScannedRows<KeyPosition> & { readonly matching: number };

/**
 * Finds the keys of a page by an index.
 *
 * @returns undefined if the search has no condition that few keys meet, or if too many keys meet it
 */
async function askIndex(db: Db, search: KeySearch, bounds: KeySearchBounds): Promise<IndexedKeys | undefined> {
  const { order, after, limit } = search;
  const { found } = bounds;
  const candidates = await candidatesOf(db, search, bounds);
  if (candidates === undefined) return undefined;
  const { joinToKey, id, column, place, direction, isAfter } = orderSql(order, search.isBackward ?? false);
  const from = after === undefined ? sql`true` : isAfter(after);
  const rows = await withOrderedPlans(db, async (tx) => {
    // The rows that were found are few, and come in no order; by the list's own every key might be read for a page.
    await sql`${unansweredStatement} select set_config('enable_sort', 'on', true)`.execute(tx);
    const { rows } = await sql<{ count: number; matching: number; id: string | null; place: string }>`
      with candidates as materialized (
        select k.* from (${candidates}) k limit ${found + 1}
      ), placed as materialized (
        select ${id} as id, ${place} as place, ${column} as ordered
        from candidates k ${joinToKey} where ${isWanted(search)} and ${from}
      )
      select (select count(*)::integer from candidates) as count, (select count(*)::integer from placed) as matching,
        page.id, page.place
      from (select) one left join lateral (
        select id, place from placed order by ordered ${direction}, id ${direction} limit ${limit + 1}
      ) page on true`.execute(tx);
    return rows;
  });
  if (rows.some(({ count }) => count > found)) return undefined;
  const positions = rows.flatMap(({ id, place }) => (id === null ? [] : { id, place }));
  return { positions, next: null, matching: rows[0]?.matching ?? 0 };
}

async function walk(
  db: Db,
  search: KeySearch,
  { step, steps }: Pick<PageBounds, "step" | "steps">,
): Promise<ScannedRows<KeyPosition>> {
  const { limit, teamIds } = search;
  const positions: KeyPosition[] = [];
  // Where every key is wanted, no more are looked at than are shown.
  const isEvery = isAnyKey(search);
  const length = isEvery ? limit + 1 : Math.max(Math.ceil(step / (teamIds?.length || 1)), LEAST_OF_A_TEAM);
  let after = search.after;
  for (let i = 0; i < steps; i++) {
    const looked = await withOrderedPlans(db, (tx) => walkOn(tx, { ...search, after }, length));
    positions.push(...looked.filter(({ wanted }) => wanted));
    const last = looked.at(-1);
    if (last === undefined || !last.goesOn) return { positions, next: null };
    if (positions.length > limit) return { positions, next: last };
    after = last;
  }
  return { positions, next: after ?? null };
}

/** Key that was read, with whether it matches, and whether more keys may follow those that were read with it. */
type LookedKey = KeyPosition & {
  readonly wanted: boolean;
  readonly goesOn: boolean;
  /** Count of other rows, if {@link walkOn} was asked for one. */
  readonly total: number | null;
};

/**
 * Reads the next keys of a list.
 *
 * @param length number of keys that are read of each team. Only those are returned before which no unread key comes
 * @param total count of other rows, by the same statement
 */
async function walkOn(
  tx: Tx,
  search: KeySearch,
  length: number,
  total: RawBuilder<number | null> = sql`null`,
): Promise<LookedKey[]> {
  const { teamIds, order, after, isBackward = false } = search;
  const { table, id, column, place, direction, upTo, isAfter } = orderSql(order, isBackward);
  const from = after === undefined ? sql`true` : isAfter(after);
  const ofTeam = teamIds === undefined ? sql`` : sql`r.team_id ${direction},`;
  const inOrder = sql`order by ${ofTeam} ${column} ${direction}, ${id} ${direction}`;
  const columns = sql`${id} as key_id, ${column} as ordered, ${place} as place, row_number() over (${inOrder}) as nth`;
  const looked =
    teamIds === undefined
      ? sql`select ${columns} from ${table} r where ${from} ${inOrder} limit ${length}`
      : sql`select one.* from unnest(${teamIds}::text[]) team cross join lateral (
          select ${columns} from ${table} r where ${isOfTeam(sql`team`)} and ${from} ${inOrder} limit ${length}) one`;
  const { rows } = await sql<LookedKey>`
    with looked as materialized (${looked}), last_read as (
      select ordered, key_id from looked where nth = ${length}
      order by ordered ${direction}, key_id ${direction} limit 1
    ), known as materialized (
      select l.*, last_read.key_id is not null as goes_on from looked l left join last_read on true
      where last_read.key_id is null or (l.ordered, l.key_id) ${upTo} (last_read.ordered, last_read.key_id)
    )
    select k.id, l.place, ${isWanted(search)} as wanted, l.goes_on as "goesOn", ${total} as total
    from known l join keys k on k.id = l.key_id
    order by l.ordered ${direction}, l.key_id ${direction}`.execute(tx);
  return rows;
}
