import type { StoreAction } from "../../domain/key/plan/key-action.ts";
import { policyChange } from "../../domain/key/plan/key-history.ts";
import type { StoredKey } from "../../domain/key/stored/stored-key.ts";
import type { ClusterEvent, DeclaredObject } from "../cluster/port.ts";
import { recordEvent } from "../context/record-event.ts";
import type { KeyDeps } from "./key-deps.ts";
import type { DeclarationObservation } from "./key-observation.ts";

/**
 * Revokes a key, or changes what it may do, and nothing else: the event waits in memory for {@link recordEvents}.
 *
 * @throws StoreError: the caller observes again before the next step
 */
export async function actOnStore(
  { confirmations, keyChanges, keyMemory }: KeyDeps,
  { object: { uid }, stored }: DeclarationObservation,
  action: StoreAction,
): Promise<void> {
  if (stored === undefined) return;
  const { id: keyId } = stored;
  confirmations.changing(uid);
  if (action.do === "Revoke") {
    confirmations.changed(uid, await keyChanges.revoke(keyId, action.reason));
    keyMemory.held.delete(uid);
  } else {
    const { generation, policy, expiresAfter, keptEnds = [] } = action;
    confirmations.changed(uid, await keyChanges.updatePolicy({ keyId, policy, expiresAfter, keptEnds, generation }));
  }
  const event = eventOf(action, stored);
  if (event !== undefined) keyMemory.events.set(uid, [...(keyMemory.events.get(uid) ?? []), event]);
}

function eventOf(action: StoreAction, stored: StoredKey): ClusterEvent | undefined {
  if (action.do === "Revoke") {
    const message = `The key and all its versions are revoked (${action.reason}).`;
    return { type: "Normal", reason: "Revoked", message };
  }
  const message = policyChange(stored, action);
  return message === "" ? undefined : { type: "Normal", reason: "Updated", message };
}

/** Records the events of what {@link actOnStore} has done. */
export async function recordEvents(deps: KeyDeps, object: DeclaredObject<"PlatformKey">): Promise<void> {
  const events = deps.keyMemory.events.get(object.uid) ?? [];
  deps.keyMemory.events.delete(object.uid);
  for (const event of events) await recordEvent(deps, object, event);
}
