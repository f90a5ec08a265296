import { sql } from "kysely";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import type { Tx } from "../database/change.ts";
import { lockName } from "../objects/objects.ts";
import type { LoadedKey } from "./key-rows.ts";
import { findKey } from "./keys.ts";

/** Locks a key, so that what is read of it stays so until the transaction ends. */
export async function lockKey(tx: Tx, keyId: string): Promise<LoadedKey | undefined> {
  await sql`select from keys where id = ${keyId} for update`.execute(tx);
  return findKey(tx, keyId);
}

/**
 * The key that lives by this name, of those that the management API made for a team. Two that are made at once wait for
 * each other.
 */
export async function findApiManagedKey(
  tx: Tx,
  { teamId, namespace, name }: { readonly teamId: string; readonly namespace: string; readonly name: string },
): Promise<{ id: string } | undefined> {
  await lockName(tx, `key ${teamId} ${namespace} ${name}`);
  return tx
    .selectFrom("keys")
    .select("id")
    .where("cluster", "=", API_CLUSTER)
    .where("team_id", "=", teamId)
    .where("namespace", "=", namespace)
    .where("name", "=", name)
    .where("state", "<>", "revoked")
    .executeTakeFirst();
}
