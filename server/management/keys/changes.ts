import { isDeepStrictEqual } from "node:util";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import type { RevocationReason } from "../../../domain/key/stored/stored-key.ts";
import { MAX_RETIRING, roomAt } from "../../../domain/key/stored/version-room.ts";
import { containsKey } from "../../../domain/redact.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { change, commitChange, seqIfKnown, type Tx } from "../../../store/database/change.ts";
import { databaseTime } from "../../../store/database/times.ts";
import { beginCreation, type Creation, endCreation } from "../../../store/idempotency.ts";
import { updateKeyPolicy } from "../../../store/keys/lifecycle/policy-update.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../../store/keys/lifecycle/rotation-request.ts";
import { lockKey } from "../../../store/keys/rows/api-managed-keys.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import type { LoadedKey } from "../../../store/keys/rows/key-rows.ts";
import { problem } from "../../http/errors.ts";
import type { ChangeContext } from "../change-context.ts";
import { checkIfMatch } from "../preconditions.ts";
import { type Action, type Rights, requireRight, seesTeam } from "../rights.ts";
import { holdChangedKey } from "./held-keys.ts";
import { type ReadKey, readKey, resolvePolicy } from "./read-key.ts";

export const NO_KEY = problem("not_found", "There is no key of this id.");
export const RELEASED_KEY_TEXT = "The declaration of this key has let go of it: it can be revoked, and nothing else.";
const REVOKED = "The key is revoked, which is final: make a new one.";

/** @throws Problem `not_found` for a key that is not the caller's either, `forbidden` */
export function requireKey<K extends Pick<LoadedKey, "teamId">>(key: K | undefined, rights: Rights, action: Action): K {
  if (key === undefined || !seesTeam(rights, key.teamId)) throw NO_KEY;
  requireRight(rights, key.teamId, action);
  return key;
}

/** @throws Problem `managed` for a key that a declaration governs, or `conflict` for one that it has let go of */
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

/** @throws Problem `invalid_request` for a name of what manages a key that holds what looks like one: it would be kept */
export function requireNoKey<T extends string | null | undefined>(managedBy: T): T {
  if (typeof managedBy !== "string" || !containsKey(managedBy)) return managedBy;
  throw problem("invalid_request", "managedBy holds what looks like a key: write it without, it is kept.");
}

/** @throws Problem `managed` for a key that something else manages, such as a Pulumi program or a library */
export function requireUnmanaged({ managedBy }: Pick<LoadedKey, "managedBy">): void {
  if (managedBy === null) return;
  throw problem("managed", `${managedBy} manages this key: change it there. It can be revoked here.`);
}

/** @throws Problem `conflict` for a revoked key */
export function requireLiving({ state }: LoadedKey): void {
  if (state === "revoked") throw problem("conflict", REVOKED);
}

/**
 * Refuses a new version that would be one too many: no earlier one is ended before its time for it.
 *
 * @param oldEndsAt when the present version would stop working
 * @param instead what the caller may ask for where the earlier ones are to end at once
 * @throws Problem `too_many_versions` with when the next of them ends
 */
export function requireRoom(key: LoadedKey, oldEndsAt: number, now: number, instead: string): void {
  const at = roomAt(key, oldEndsAt, now);
  if (at <= now) return;
  const retiresAt = rfc3339Millis(at);
  const detail = `${MAX_RETIRING} earlier versions of this key still work, and the next of them ends at ${retiresAt}: ask again then, or have all of them end at once by ${instead}.`;
  throw problem("too_many_versions", detail, undefined, { retiresAt });
}

/**
 * Revokes a key and all its versions, for ever. Repeated, nothing changes, and the first revocation's seq is answered.
 *
 * @param check what else must hold of the key
 * @returns the seq of the revocation; null where it stands, and the database is gone before it could say
 * @throws Problem `not_found`, `forbidden`
 */
export async function revokeByHand(
  { store, author, rights }: ChangeContext,
  keyId: string,
  reason: RevocationReason,
  check: (key: LoadedKey) => void = () => {},
): Promise<number | null> {
  const { result: known, askSeq } = await commitChange(store, null, async (tx) => {
    const key = requireKey(await lockKey(tx, keyId), rights, "revoke keys");
    check(key);
    await revokeKey(tx, keyId, reason, author);
    return key.revocation?.seq ?? null;
  });
  return known ?? (await seqIfKnown(askSeq));
}

/**
 * Asks for a new version of a declared key. While one is asked for already, asking again changes nothing but that the
 * old version may be wanted to end at once.
 *
 * @param creation how the request is known again, however soon a controller has done what it asks for; undefined where
 *   it does not say
 * @returns the seq of the request; null as of a revocation
 * @throws Problem `not_found`, `forbidden`, `too_many_versions`, or `conflict` for a key that no controller makes a new
 *   version of
 */
export async function rotateByHand(
  { store, author, rights }: ChangeContext,
  keyId: string,
  revokeOld: boolean,
  creation?: Creation,
): Promise<number | null> {
  const { askSeq } = await commitChange(store, null, async (tx) => {
    const key = requireKey(await findKey(tx, keyId), rights, "change keys");
    requireLiving(key);
    if (key.cluster === API_CLUSTER) {
      throw problem("conflict", "No controller delivers this key: POST .../versions makes a new version of it.");
    }
    if (key.ownerUid === null)
      throw problem("conflict", "No declaration governs this key, so that no controller could deliver a new version.");
    if (creation !== undefined) {
      const before = await beginCreation(tx, creation);
      if (before?.isSameRequest) return;
      await endCreation(tx, creation, keyId);
    }
    const pending = key.rotationRequest;
    if (pending !== null && (pending.revokeOld || !revokeOld)) return;
    if (!revokeOld) {
      const now = await databaseTime(tx);
      requireRoom(key, Number.POSITIVE_INFINITY, now, "`revokeOld: true`, keyplane rotate --revoke-old");
    }
    await requestRotation(tx, keyId, revokeOld, author);
  });
  return seqIfKnown(askSeq);
}

/**
 * Gives a key that was made here another spec, the whole of it.
 *
 * @param ifMatch the header of that name
 * @returns the seq of the change
 * @throws Problem `not_found`, `forbidden`, `managed`, `conflict`, `precondition_failed`, `invalid`
 */
export async function replaceKeySpec(
  { store, author, rights }: ChangeContext,
  keyId: string,
  { spec, managedBy }: { readonly spec: unknown; readonly managedBy?: string | null },
  ifMatch: string,
): Promise<number> {
  const { seq } = await change(store, null, async (tx) => {
    const key = await lockLivingApiManagedKey(tx, rights, keyId, "suspend keys");
    checkIfMatch(ifMatch, key);
    const read = readKey({ ...key, spec }, key.spec);
    const isSuspended = isSuspension(key, read);
    if (managedBy !== undefined || !isSuspended) requireRight(rights, key.teamId, "change keys");
    const policy = await resolvePolicy(tx, key.teamId, read.declared);
    await updateKeyPolicy(tx, {
      keyId,
      ...(await holdChangedKey(tx, key, { spec: read.spec, policy, isSuspension: isSuspended })),
      generation: key.generation + 1,
      spec: read.spec,
      managedBy: requireNoKey(managedBy),
      by: author,
    });
  });
  return seq;
}

/** Whether nothing changes but that the key is to be suspended. */
function isSuspension({ spec }: LoadedKey, { spec: wanted }: ReadKey): boolean {
  return wanted.state === "Suspended" && isDeepStrictEqual({ ...spec, state: "Suspended" }, wanted);
}

/**
 * A living key that was made here, locked.
 *
 * @throws Problem `not_found`, `forbidden`, `managed`, `conflict`
 */
export async function lockLivingApiManagedKey(
  tx: Tx,
  rights: Rights,
  keyId: string,
  action: Action,
): Promise<LoadedKey> {
  const key = requireKey(await lockKey(tx, keyId), rights, action);
  requireApiManaged(key);
  requireLiving(key);
  return key;
}
