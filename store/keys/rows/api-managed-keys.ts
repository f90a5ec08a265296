import { sql } from "kysely";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import type { Db, Tx } from "../../database/change.ts";
import { lockName } from "../../objects/objects.ts";
import { findKey } from "./find-key.ts";
import { type LoadedKey, loadKeys } from "./key-rows.ts";

/** Locks a key and reads it, so that it does not change until the transaction ends. */
export async function lockKey(tx: Tx, keyId: string): Promise<LoadedKey | undefined> {
  await sql`select from keys where id = ${keyId} for update`.execute(tx);
  return findKey(tx, keyId);
}

/**
 * Finds the living key of this name that the management API made for a team. Locks the name, so that two requests that
 * make it at once wait for each other.
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

/**
 * Lists a page of the living keys that were made by hand, in the order of their ids. Includes teams of a cluster, and
 * teams that no cluster declares.
 *
 * @param afterId last id of the previous page; empty for the first page
 */
export function madeKeysAfter(db: Db, cluster: string, afterId: string, limit: number): Promise<LoadedKey[]> {
  return loadKeys(
    db,
    sql`where k.id > ${afterId} and k.cluster = ${API_CLUSTER} and k.state <> 'revoked' and k.spec is not null
      and exists (select from teams t where t.id = k.team_id and t.cluster in (${cluster}, ${API_CLUSTER}))
      order by k.id limit ${limit}`,
  );
}
