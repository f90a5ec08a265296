import { deliveredVersion, governedKey, type ObservedKey } from "../observed/observed-key.ts";
import { type KeyAction, NOTHING } from "./key-action.ts";
import { planActivation } from "./plan-versions.ts";

/**
 * Plans what is left to do for a deleted declaration when {@link planEnd} has nothing more to revoke. Deletion is keyed
 * by the owner's uid and needs neither the Secret nor the namespace (I6): it never waits for a Secret that cannot be
 * read, or that another's finalizer holds.
 */
export function planDeletion(observed: ObservedKey, now: number): KeyAction {
  const { declared, secret } = observed;
  if (!observed.hasFinalizer) return NOTHING;
  const key = governedKey(observed);
  if (key !== undefined && key.state !== "revoked") {
    const delivered = deliveredVersion(observed, key);
    // The Secret that stays must hold a version that works on.
    if (delivered?.state === "reserved") return planActivation(key, delivered, declared, now);
    if (secret.state === "ours" && secret.owned) return { do: "DetachSecret" };
    return { do: "Release" };
  }
  const isLeft = declared.retainOnDelete || !declared.secret.deleteWithKey;
  if (secret.state === "ours" && !secret.deleting && (secret.owned || !isLeft)) return { do: "DeleteSecret" };
  return { do: "ReleaseFinalizer" };
}
