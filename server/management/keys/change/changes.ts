import { isDeepStrictEqual } from "node:util";
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import type { RevocationReason } from "../../../../domain/key/stored/stored-key.ts";
import { change, commitChange, seqIfKnown, type Tx } from "../../../../store/database/change.ts";
import { databaseTime } from "../../../../store/database/times.ts";
import { beginCreation, type Creation, endCreation } from "../../../../store/idempotency.ts";
import { updateKeyPolicy } from "../../../../store/keys/lifecycle/policy-update.ts";
import { revokeKey } from "../../../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../../../store/keys/lifecycle/rotation-request.ts";
import { lockKey } from "../../../../store/keys/rows/api-managed-keys.ts";
import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { problem } from "../../../http/problems/problem.ts";
import type { ChangeContext } from "../../change-context.ts";
import { checkIfMatch } from "../../preconditions.ts";
import { requireRight, requireRightStill } from "../../rights.ts";
import { holdChangedKey } from "../request/held-keys.ts";
import { type ReadKey, readKey, resolvePolicy } from "../request/read-key.ts";
import {
  lockLivingApiManagedKey,
  requireKey,
  requireLiving,
  requireNoKey,
  requireVersionSlot,
} from "../request/requirements.ts";

/**
 * Revokes a key and all its versions, for ever. A repetition changes nothing and returns the first revocation's seq.
 *
 * @param check throws if the key does not meet another condition
 * @returns seq of the revocation; null if it is committed but the database went away before it gave the seq
 * @throws Problem `not_found`, `forbidden`
 */
export async function revokeByHand(
  { store, author, principal, rights }: ChangeContext,
  keyId: string,
  reason: RevocationReason,
  check: (key: LoadedKey) => void = () => {},
): Promise<number | null> {
  const { result: known, askSeq } = await commitChange(store, null, async (tx) => {
    const key = requireKey(await lockKey(tx, keyId), rights, "revoke keys");
    await requireRightStill(tx, principal, key.teamId, "revoke keys");
    check(key);
    await revokeKey(tx, keyId, reason, author);
    return key.revocation?.seq ?? null;
  });
  return known ?? (await seqIfKnown(askSeq));
}

/**
 * Requests a new version of a declared key. While a request is pending, another changes nothing, except that it may ask
 * for the immediate end of the old version.
 *
 * @param creation identity of the request, which recognises a repetition even after a controller has made the version;
 * undefined if the request gives none
 * @returns seq of the request; null as for a revocation
 * @throws Problem `not_found`, `forbidden`, `too_many_versions`, `idempotency_mismatch` if the request was made with
 * another content, or `conflict` for a key that no controller makes a new version of
 */
export async function rotateByHand(
  { store, author, principal, rights }: ChangeContext,
  keyId: string,
  revokeOld: boolean,
  creation?: Creation,
): Promise<number | null> {
  const { askSeq } = await commitChange(store, null, async (tx) => {
    const key = requireKey(await lockKey(tx, keyId), rights, "change keys");
    requireLiving(key);
    if (key.cluster === API_CLUSTER) {
      throw problem("conflict", "No controller delivers this key: POST .../versions makes a new version of it.");
    }
    if (key.ownerUid === null)
      throw problem("conflict", "No declaration governs this key, so that no controller could deliver a new version.");
    if (creation !== undefined) {
      const before = await beginCreation(tx, creation);
      if (before?.isSameRequest) return;
      if (before !== undefined) throw problem("idempotency_mismatch", undefined, undefined, { id: before.objectId });
      await endCreation(tx, creation, keyId);
    }
    await requireRightStill(tx, principal, key.teamId, "change keys");
    const pending = key.rotationRequest;
    if (pending !== null && (pending.revokeOld || !revokeOld)) return;
    if (!revokeOld) {
      const now = await databaseTime(tx);
      requireVersionSlot(key, Number.POSITIVE_INFINITY, now, "run `keyplane rotate --revoke-old` (`revokeOld: true`)");
    }
    await requestRotation(tx, keyId, revokeOld, author);
  });
  return seqIfKnown(askSeq);
}

/** Replaces the whole spec of a key that was made by hand, as {@link replaceKeySpecIn} does. */
export async function replaceKeySpec(
  context: ChangeContext,
  keyId: string,
  asked: AskedSpec,
  ifMatch: string,
): Promise<void> {
  await change(context.store, null, (tx) => replaceKeySpecIn(tx, context, keyId, asked, ifMatch));
}

/** Spec that replaces a key's, as a request gives it. `managedBy` stays as it is if it is left out. */
type AskedSpec = { readonly spec: unknown; readonly managedBy?: string | null };

/**
 * Replaces the whole spec of a key that was made by hand, within a change.
 *
 * @param ifMatch header `If-Match`
 * @throws Problem `not_found`, `forbidden`, `managed`, `conflict`, `precondition_failed`, `invalid`
 */
export async function replaceKeySpecIn(
  tx: Tx,
  context: ChangeContext,
  keyId: string,
  { spec, managedBy }: AskedSpec,
  ifMatch: string,
): Promise<void> {
  const { author, rights } = context;
  const key = await lockLivingApiManagedKey(tx, context, keyId, "suspend keys");
  checkIfMatch(ifMatch, key);
  const read = readKey({ ...key, spec }, key.spec);
  const isSuspended = isSuspension(key, read);
  if (managedBy !== undefined || !isSuspended) requireRight(rights, key.teamId, "change keys");
  // What the key names may be gone, or have a namesake: it is suspended all the same, and bound to nothing else.
  const policy = isSuspended ? { ...key.policy, suspended: true } : await resolvePolicy(tx, key.teamId, read.declared);
  await updateKeyPolicy(tx, {
    keyId,
    ...(await holdChangedKey(tx, key, { spec: read.spec, policy, isSuspension: isSuspended })),
    generation: key.generation + 1,
    spec: read.spec,
    managedBy: requireNoKey(managedBy),
    by: author,
  });
}

/** True if the change only suspends the key. */
function isSuspension({ spec }: LoadedKey, { spec: wanted }: ReadKey): boolean {
  return wanted.state === "Suspended" && isDeepStrictEqual({ ...spec, state: "Suspended" }, wanted);
}
