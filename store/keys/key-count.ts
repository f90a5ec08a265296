import { sql } from "kysely";
import { type BoundedCount, countOfPage, countRows, MAX_COUNT } from "../database/bounded-count.ts";
import type { Db } from "../database/change.ts";
import { findPositions, isAnyKey, type KeySearch, type KeySearchBounds } from "./key-search.ts";

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
