/** Requirements for the key of a request: whose it is, who may change it, and if it lives. */
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import { MAX_RETIRING, slotFreeAt } from "../../../../domain/key/stored/version-slots.ts";
import { containsKey } from "../../../../domain/redact.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { Tx } from "../../../../store/database/change.ts";
import { lockKey } from "../../../../store/keys/rows/api-managed-keys.ts";
import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { problem } from "../../../http/problems/problem.ts";
import type { ChangeContext } from "../../change-context.ts";
import { type Action, type Rights, requireRight, requireRightStill, seesTeam } from "../../rights.ts";

export const NO_KEY = problem("not_found", "There is no key of this id.");
export const RELEASED_KEY_TEXT = "The declaration of this key has let go of it: it can be revoked, and nothing else.";
const REVOKED = "The key is revoked, which is final: make a new one.";

/**
 * Requires a key that the caller may take the action on. @throws Problem `not_found`, also for a key that the caller
 * may not see; `forbidden`
 */
export function requireKey<K extends Pick<LoadedKey, "teamId">>(key: K | undefined, rights: Rights, action: Action): K {
  if (key === undefined || !seesTeam(rights, key.teamId)) throw NO_KEY;
  requireRight(rights, key.teamId, action);
  return key;
}

/**
 * Requires a key that no declaration governs. @throws Problem `managed` for a declared key, `conflict` for a key that
 * its declaration has released
 */
export function requireApiManaged({ cluster, namespace, name, ownerUid, managedBy }: LoadedKey): void {
  if (cluster === API_CLUSTER) return;
  if (ownerUid === null) {
    requireUnmanaged({ managedBy });
    throw problem("conflict", RELEASED_KEY_TEXT);
  }
  throw problem(
    "managed",
    `PlatformKey ${namespace}/${name} (uid ${ownerUid}, cluster ${cluster}) declares this key: change it there. It can be revoked here.`,
  );
}

/**
 * Requires that the name of a key's manager contains no key, since the name is kept. @throws Problem `invalid_request`
 */
export function requireNoKey<T extends string | null | undefined>(managedBy: T): T {
  if (typeof managedBy !== "string" || !containsKey(managedBy)) return managedBy;
  throw problem("invalid_request", "managedBy holds what looks like a key: write it without, it is kept.");
}

/**
 * Requires a key that is changed by hand. @throws Problem `managed` for a key that something else manages, such as a
 * Pulumi program or a library
 */
export function requireUnmanaged({ managedBy }: Pick<LoadedKey, "managedBy">): void {
  if (managedBy === null) return;
  throw problem("managed", `${managedBy} manages this key: change it there. It can be revoked here.`);
}

/** Requires a key that is not revoked. @throws Problem `conflict` for a revoked key */
export function requireLiving({ state }: LoadedKey): void {
  if (state === "revoked") throw problem("conflict", REVOKED);
}

/**
 * Requires a free slot for an old version: no earlier version is ended before its time to make a new one.
 *
 * @param oldEndsAt when the present version would stop working, in milliseconds since the epoch
 * @param instead what to do, as an imperative, that ends the earlier versions at once, for the text of the refusal
 * @throws Problem `too_many_versions` with when the next of them ends
 */
export function requireVersionSlot(key: LoadedKey, oldEndsAt: number, now: number, instead: string): void {
  const at = slotFreeAt(key, oldEndsAt, now);
  if (at <= now) return;
  const retiresAt = rfc3339Millis(at);
  const detail = `${MAX_RETIRING} earlier versions of this key still work, and the next of them ends at ${retiresAt}: ask again then, or ${instead} to end them all at once.`;
  throw problem("too_many_versions", detail, undefined, { retiresAt });
}

/**
 * Locks a living key that was made by hand.
 *
 * @throws Problem `not_found`, `forbidden`, `managed`, `conflict`
 */
export async function lockLivingApiManagedKey(
  tx: Tx,
  { rights, principal }: ChangeContext,
  keyId: string,
  action: Action,
): Promise<LoadedKey> {
  const key = requireKey(await lockKey(tx, keyId), rights, action);
  await requireRightStill(tx, principal, key.teamId, action);
  requireApiManaged(key);
  requireLiving(key);
  return key;
}
