import { sql } from "kysely";
import type { Db, Tx } from "../../database/change.ts";
import { lockName } from "../../objects/objects.ts";

/**
 * Counts the keys of a team that are not revoked and were made before a key.
 *
 * @param keyId the key; undefined for a key that is yet to be made. It comes last, as does a key of another team.
 *   Unless {@link countKeysBeforeNew} is used, others may be made meanwhile
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
 * Counts the keys that come before a key that this transaction makes. If several keys are made at once for a team with
 * a maximum number of keys, declared or by hand, one waits for the other. Keys of other teams do not wait.
 */
export async function countKeysBeforeNew(tx: Tx, teamId: string): Promise<number> {
  await lockName(tx, `keys of ${teamId}`);
  return countKeysBefore(tx, teamId, undefined);
}
