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

/** A search among the keys. */
export type KeySearch = KeyCriteria & {
  readonly order: KeyOrder;
  /** Where the page before ended; or the one behind it began, where the list is read backward. */
  readonly after: KeyPosition | undefined;
  /** Whether the keys before that are wanted: the nearest of them, in the list's order. */
  readonly isBackward?: boolean;
  readonly limit: number;
};

/** A page of keys with their positions, and where the next one begins; or the one before, read backward. */
export type FoundKeys = BoundedPage<KeyPosition> & { readonly keys: readonly ListedKey[] };

/** How much work one page may be, however many keys there are. */
export type KeySearchBounds = PageBounds & CandidateBounds;
const BOUNDS: KeySearchBounds = { ...PAGE_BOUNDS, places: 2_000 };
/** Keys of each of several teams that are looked at at a time. */
const LEAST_OF_A_TEAM = 20;

/** Finds a page of keys in an order. */
export async function searchKeys(db: Db, search: KeySearch, bounds: KeySearchBounds = BOUNDS): Promise<FoundKeys> {
  const found = await findPositions(db, search, bounds);
  const positions = search.isBackward ? found.positions.toReversed() : found.positions;
  const ids = positions.map(({ id }) => id);
  return { ...found, positions, keys: await findKeys(db, ids) };
}

/** Finds where the keys of a page are, in the order in which they are read. */
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

/** A page's positions, and how many keys the search finds on all of its pages. */
export type CountedPositions = BoundedPage<KeyPosition> & { readonly total: BoundedCount };

/** Finds the first page of a search, and counts what it finds: exactly up to {@link MAX_COUNT}, by the same statements. */
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

/** Finds a page of all keys, and counts them, by one statement. */
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

/** Counts all keys of some teams; of every team, where undefined. */
export function countAnyKeys(db: Db, teamIds: KeySearch["teamIds"]): Promise<BoundedCount> {
  return countRows(db, anyKeys(teamIds));
}

function anyKeys(teamIds: KeySearch["teamIds"]): RawBuilder<unknown> {
  return sql`from keys ${teamIds === undefined ? sql`` : sql`where team_id = any(${teamIds}::text[])`}`;
}

/** A text as the database's `lower` has it, which depends on its locale beyond ASCII. */
async function inSmallLetters(db: Db, text: string): Promise<string> {
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  const { rows } = await sql<{ text: string }>`select lower(${text}) as text`.execute(db);
  return rows[0]?.text ?? text;
}

/** The keys with these ids, in this order; one that is no more is left out. */
export async function findKeys(db: Db, ids: readonly string[]): Promise<ListedKey[]> {
  if (ids.length === 0) return [];
  const keys = await loadKeysById(db, ids);
  const byId = new Map(keys.map((key) => [key.id, withoutDigests(key)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Keys that an index has, and how many of them match, behind the page too. */
type IndexedKeys = ScannedRows<KeyPosition> & { readonly matching: number };

/** @returns undefined where nothing is asked for that few keys have, or where too many have it */
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

/** A key that was looked at, whether it is wanted, and whether any may be behind those that were looked at with it. */
type LookedKey = KeyPosition & {
  readonly wanted: boolean;
  readonly goesOn: boolean;
  /** What was to be counted beside. */
  readonly total: number | null;
};

/**
 * The next keys of a list.
 *
 * @param length so many of each team are read, and those given that come before anything that was not read
 * @param total a count of other rows, by the same statement
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
