import { sql } from "kysely";
import type { Db, Tx } from "../../database/change.ts";
import { lockName } from "../../objects/objects.ts";

/**
 * How many keys of a team that are not revoked come before a key, by when they were made.
 *
 * @param keyId the key; undefined for one that is yet to be made, which comes after all, as does another team's: others
 *   may be made meanwhile, but for those of {@link countKeysBeforeNew}
 */
export async function countKeysBefore(db: Db, teamId: string, keyId: string | undefined): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from keys k left join keys own
      on own.id = ${keyId ?? null}::text and own.team_id = k.team_id
    where k.team_id = ${teamId} and k.state <> 'revoked'
      and (own.id is null or (k.created_at, k.id) < (own.created_at, own.id))`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * How many keys come before one that this transaction makes: of several that are made at once for a team that may have so
 * many, declared or by hand, one waits for the other. No other team's waits.
 */
export async function countKeysBeforeNew(tx: Tx, teamId: string): Promise<number> {
  await lockName(tx, `keys of ${teamId}`);
  return countKeysBefore(tx, teamId, undefined);
}
