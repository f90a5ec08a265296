import { sql } from "kysely";
import type { Db } from "../../database/change.ts";

/**
 * How many keys of a team that are not revoked come before a key, by when they were made.
 *
 * @param keyId the key; undefined for one that is yet to be made, which comes after all, as does another team's
 */
export async function countKeysBefore(db: Db, teamId: string, keyId: string | undefined): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from keys k left join keys own
      on own.id = ${keyId ?? null}::text and own.team_id = k.team_id
    where k.team_id = ${teamId} and k.state <> 'revoked'
      and (own.id is null or (k.created_at, k.id) < (own.created_at, own.id))`.execute(db);
  return rows[0]?.count ?? 0;
}
