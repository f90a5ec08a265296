import { governedKey, isOutdated, type ObservedDeclaration } from "../observed/observed-key.ts";
import type { StoreAction } from "./key-action.ts";
import { planPolicy, planSuspension } from "./plan-policy.ts";

/**
 * Plans the step by which a working key is revoked or suspended, the first part of {@link planKey}; undefined if the
 * key is not to end. A deletion ends it also without our finalizer, where another's holds the object. It comes before
 * every other step of the key, and needs no answer from the cluster: when thousands of keys end together, each has ended
 * before anything else is done for any of them (threats c71).
 */
export function planEnd(observed: ObservedDeclaration): StoreAction | undefined {
  const { declared, references } = observed;
  const key = governedKey(observed);
  if (key === undefined || key.state === "revoked") return undefined;
  if (isGoing(observed)) return declared.retainOnDelete ? undefined : { do: "Revoke", reason: "Deleted" };
  if (!observed.hasFinalizer) return undefined;
  if (declared.state === "Revoked") return { do: "Revoke", reason: "Declared" };
  if (references.teamId !== null && key.teamId !== references.teamId) return { do: "Revoke", reason: "Moved" };
  const update = planPolicy(observed, key);
  return update?.policy.suspended && key.state !== "suspended" ? update : undefined;
}

/**
 * Plans the step by which a declaration of which only the state can be read ends or suspends its key; undefined if that
 * is done.
 */
export function planUnreadEnd(observed: ObservedDeclaration): StoreAction | undefined {
  const key = governedKey(observed);
  if (key === undefined || key.state === "revoked") return undefined;
  if (observed.declared.state === "Revoked") return { do: "Revoke", reason: "Declared" };
  return isOutdated(observed, key) ? undefined : planSuspension(observed, key);
}

/** True if the declaration is being deleted, and its key with it: a protected key lives on as declared meanwhile. */
export function isGoing(observed: ObservedDeclaration): boolean {
  const key = governedKey(observed);
  const isProtected = observed.declared.deletionProtection && key !== undefined && key.state !== "revoked";
  return observed.deleting && !isProtected;
}
