import type { BoundedCount } from "../../database/bounded-count.ts";
import type { Db } from "../../database/change.ts";
import { isAnyKey, type KeyCriteria } from "./key-criteria.ts";
import {
  type CountedPositions,
  countAnyKeys,
  type FoundKeys,
  findAnyPage,
  findFirstPage,
  findKeys,
  type KeySearch,
  type KeySearchBounds,
  searchKeys,
} from "./key-search.ts";

/** Finds a page of keys, as {@link searchKeys} does, and the number of keys that the search finds on all its pages. */
export async function searchAndCountKeys(
  db: Db,
  search: KeySearch,
  bounds?: KeySearchBounds,
): Promise<FoundKeys & { readonly total: BoundedCount }> {
  if (isAnyKey(search)) return withKeys(db, await findAnyPage(db, search));
  if (search.after === undefined) return withKeys(db, await findFirstPage(db, search, bounds));
  return { ...(await searchKeys(db, search, bounds)), total: await countKeys(db, search, bounds) };
}

async function withKeys(db: Db, page: CountedPositions): Promise<CountedPositions & FoundKeys> {
  const ids = page.positions.map(({ id }) => id);
  return { ...page, keys: await findKeys(db, ids) };
}

/** Counts the keys that a search finds, exactly up to `MAX_COUNT` of bounded-count.ts, and reads a bounded number of rows. */
export async function countKeys(db: Db, criteria: KeyCriteria, bounds?: KeySearchBounds): Promise<BoundedCount> {
  if (isAnyKey(criteria)) return countAnyKeys(db, criteria.teamIds);
  const { name, state, scope, model, trait, boundTo, teamIds } = criteria;
  const search = { name, state, scope, model, trait, boundTo, teamIds };
  return (await findFirstPage(db, { ...search, order: "name", after: undefined, limit: 1 }, bounds)).total;
}
