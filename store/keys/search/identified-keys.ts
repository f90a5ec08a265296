import { sql } from "kysely";
import type { Db } from "../../database/change.ts";
import { withOrderedPlans } from "../../database/ordered-plans.ts";
import { preparedStatement } from "../../database/prepared-statement.ts";

/**
 * Finds the keys that a text identifies exactly: by an id, or by the first characters of one of their secrets.
 *
 * @returns ids of ten keys at most
 */
export async function identifyKeys(db: Db, text: string, teamIds: readonly string[] | undefined): Promise<string[]> {
  // Each of the two by its index: asked for by one condition, they are looked for among all keys.
  const { rows } = await sql<{ id: string }>`${preparedStatement}
    with found as materialized (
      (select id from keys where id = lower(${text}))
      union (select key_id from key_versions where prefix = ${text}) limit 100
    )
    select k.id from found join keys k on k.id = found.id
    ${teamIds === undefined ? sql`` : sql`where k.team_id = any(${teamIds}::text[])`}
    order by k.id limit 10`.execute(db);
  return rows.map(({ id }) => id);
}

/** Bound of the result, higher than the number of objects of one name. */
const MOST_BINDINGS = 10_000;

/**
 * Finds the gateways and libraries that a text names, by their name or their id.
 *
 * @param teamIds teams whose objects are searched; undefined for every team
 */
export async function findBindings(db: Db, text: string, teamIds: readonly string[] | undefined): Promise<string[]> {
  const named = sql`(id = ${text} or name = ${text})
    ${teamIds === undefined ? sql`` : sql`and team_id = any(${teamIds}::text[])`}`;
  // What subjects have is behind all libraries in the order of the ids, and is not read through.
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<{ id: string }>`select id from gateways where ${named}
      union select id from libraries where id < 'part_' and ${named} limit ${MOST_BINDINGS}`.execute(tx),
  );
  return rows.map(({ id }) => id);
}
