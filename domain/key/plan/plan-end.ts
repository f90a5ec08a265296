import { governedKey, type ObservedDeclaration } from "../observed/observed-key.ts";
import type { StoreAction } from "./key-action.ts";
import { planPolicy } from "./plan-policy.ts";

/**
 * The first part of {@link planKey}: the step by which a key that works is revoked or suspended; undefined where it is
 * not to end. It comes before every other step of the key, and needs no answer of the cluster: where thousands end
 * together, each has ended before anything else is done for any of them (threats c71).
 */
export function planEnd(observed: ObservedDeclaration): StoreAction | undefined {
  const { declared, references } = observed;
  const key = governedKey(observed);
  if (!observed.hasFinalizer || key === undefined || key.state === "revoked") return undefined;
  if (isGoing(observed)) return declared.retainOnDelete ? undefined : { do: "Revoke", reason: "Deleted" };
  if (declared.state === "Revoked") return { do: "Revoke", reason: "Declared" };
  if (references.teamId !== null && key.teamId !== references.teamId) return { do: "Revoke", reason: "Moved" };
  const update = planPolicy(observed, key);
  return update?.policy.suspended && key.state !== "suspended" ? update : undefined;
}

/** Whether it is being deleted: a protected key lives on as declared meanwhile. */
export function isGoing(observed: ObservedDeclaration): boolean {
  const key = governedKey(observed);
  const isProtected = observed.declared.deletionProtection && key !== undefined && key.state !== "revoked";
  return observed.deleting && !isProtected;
}
