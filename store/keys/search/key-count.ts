import { sql } from "kysely";
import { type BoundedCount, countOfPage, countRows, MAX_COUNT } from "../../database/bounded-count.ts";
import type { Db } from "../../database/change.ts";
import { isAnyKey } from "./key-criteria.ts";
import {
  type FoundKeys,
  findKeys,
  findPositions,
  type KeySearch,
  type KeySearchBounds,
  searchKeys,
} from "./key-search.ts";

/** Finds a page of keys, as {@link searchKeys} does, and how many keys the search finds on all its pages. */
export async function searchAndCountKeys(
  db: Db,
  search: KeySearch,
  bounds?: KeySearchBounds,
): Promise<FoundKeys & { readonly total: BoundedCount }> {
  const { after } = search;
  if (after === undefined && !isAnyKey(search)) return firstPage(db, search, bounds);
  const page = await searchKeys(db, search, bounds);
  const isWhole = after === undefined && page.next === null;
  return { ...page, total: isWhole ? { count: page.keys.length, is: "exact" } : await countKeys(db, search, bounds) };
}

/** The first of the keys that are counted: found once, for both. */
async function firstPage(db: Db, search: KeySearch, bounds: KeySearchBounds | undefined) {
  const counted = await findPositions(db, { ...search, limit: MAX_COUNT }, bounds);
  const positions = counted.positions.slice(0, search.limit);
  const isFull = counted.positions.length > search.limit;
  return {
    positions,
    keys: await findKeys(
      db,
      positions.map(({ id }) => id),
    ),
    next: isFull ? (positions.at(-1) ?? null) : counted.next,
    isPartial: !isFull && counted.isPartial,
    total: countOfPage(counted),
  };
}

/** Counts what a search finds, exactly up to {@link MAX_COUNT}, in a bounded number of rows. */
export async function countKeys(
  db: Db,
  { name, state, scope, model, trait, boundTo, teamIds }: Omit<KeySearch, "order" | "after" | "isBackward" | "limit">,
  bounds?: KeySearchBounds,
): Promise<BoundedCount> {
  const search: KeySearch = {
    ...{ name, state, scope, model, trait, boundTo, teamIds },
    ...{ order: "name", after: undefined, limit: MAX_COUNT },
  };
  if (!isAnyKey(search)) return countOfPage(await findPositions(db, search, bounds));
  return countRows(db, sql`from keys ${teamIds === undefined ? sql`` : sql`where team_id = any(${teamIds}::text[])`}`);
}
