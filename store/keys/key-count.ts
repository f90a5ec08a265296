import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import { findPositions, isAnyKey, type KeySearch, type KeySearchBounds } from "./key-search.ts";

/** As far as matches are counted. */
export const MAX_COUNT = 1_000;

/** How many keys a search finds on all its pages. */
export type KeyCount = {
  readonly count: number;
  /** `more` than that, by an unknown number; or `at least`, where looking through them all would take too long. */
  readonly is: "exact" | "more" | "at least";
};

/** Counts what a search finds, exactly up to {@link MAX_COUNT}, in a bounded number of rows. */
export async function countKeys(
  db: Db,
  { name, state, scope, model, trait, boundTo, teamIds }: Omit<KeySearch, "order" | "after" | "isBackward" | "limit">,
  bounds?: KeySearchBounds,
): Promise<KeyCount> {
  const search: KeySearch = {
    ...{ name, state, scope, model, trait, boundTo, teamIds },
    ...{ order: "name", after: undefined, limit: MAX_COUNT },
  };
  if (isAnyKey(search)) return countAll(db, teamIds);
  const { positions, next, isPartial } = await findPositions(db, search, bounds);
  return { count: positions.length, is: next === null ? "exact" : isPartial ? "at least" : "more" };
}

async function countAll(db: Db, teamIds: readonly string[] | undefined): Promise<KeyCount> {
  const ofTeams = teamIds === undefined ? sql`` : sql`where team_id = any(${teamIds}::text[])`;
  const count = await withOrderedPlans(db, async (tx) => {
    const { rows } = await sql<{ count: number }>`select count(*)::integer as count
      from (select from keys ${ofTeams} limit ${MAX_COUNT + 1}) one`.execute(tx);
    return rows[0]?.count ?? 0;
  });
  return count > MAX_COUNT ? { count: MAX_COUNT, is: "more" } : { count, is: "exact" };
}
