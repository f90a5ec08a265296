import { governedKey, type ObservedKey } from "../observed/observed-key.ts";
import { versionIn } from "../stored/stored-key.ts";
import { retireOldAt, slotFreeAt, supersededReservation } from "../stored/version-slots.ts";
import { mayMint } from "./issuance-block.ts";
import { isRotation, type RotationReason, rotationDueAt, wantedVersion } from "./issuance-policy.ts";

/** Next rotation of a key. Times are milliseconds since the epoch. */
type NextRotation = {
  readonly at: number;
  /** Reason that asks for it already, while it waits for a free version slot; null if the rotation is not due yet. */
  readonly delayed: RotationReason | null;
};

/**
 * Returns the rotation that will come by itself later than `now`, when a version slot is free for it. Undefined if none
 * will, such as for a key that is suspended or ends before then.
 */
export function nextRotation(observed: ObservedKey, now: number): NextRotation | undefined {
  const key = governedKey(observed);
  const active = versionIn(key, "active");
  if (key === undefined || key.state === "revoked" || active === undefined) return undefined;
  const { declared, steadyFrom } = observed;
  const wanted = wantedVersion(observed, key, now);
  const delayed = wanted !== undefined && isRotation(wanted.why) ? wanted.why : null;
  const due = delayed === null ? Math.max(rotationDueAt(active, declared.rotationInterval, key.id), steadyFrom) : now;
  const slotAt = slotFreeAt(key, retireOldAt(key, declared, due), due);
  const at = Math.max(due, slotAt, supersededReservation(key, declared, due)?.from ?? due);
  return at > now && Number.isFinite(at) && mayMint(observed, at) ? { at, delayed } : undefined;
}
