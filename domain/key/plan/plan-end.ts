import { governedKey, type ObservedDeclaration } from "../observed/observed-key.ts";
import type { StoredKey } from "../stored/stored-key.ts";
import type { StoreAction } from "./key-action.ts";
import { planPolicy } from "./plan-policy.ts";

/**
 * Plans the step by which a working key is revoked or suspended, the first part of {@link planKey}; undefined if the
 * key is not to end. A deletion ends it also without our finalizer, where another's holds the object. It comes before
 * every other step of the key, and needs no answer from the cluster: when thousands of keys end together, each has ended
 * before anything else is done for any of them (threats c71).
 */
export function planEnd(observed: ObservedDeclaration): StoreAction | undefined {
  const key = governedKey(observed);
  if (key === undefined || key.state === "revoked") return undefined;
  if (isGoing(observed)) {
    return observed.declared.retainOnDelete ? planMoved(observed, key) : { do: "Revoke", reason: "Deleted" };
  }
  // Without it a deletion would not wait for the key's end. An object that is being deleted gets none any more.
  if (!observed.hasFinalizer && !observed.deleting) return undefined;
  const revocation = planRevocation(observed, key);
  if (revocation !== undefined) return revocation;
  const update = planPolicy(observed, key);
  return update?.policy.suspended && key.state !== "suspended" ? update : undefined;
}

/**
 * Plans the step of a key of whose declaration only the state can be read: it ends or is suspended as any other, and is
 * held to its policies as it was issued; undefined if that is done.
 */
export function planUnread(observed: ObservedDeclaration): StoreAction | undefined {
  const key = governedKey(observed);
  if (key === undefined || key.state === "revoked") return undefined;
  return planRevocation(observed, key) ?? planPolicy(observed, key);
}

function planRevocation(observed: ObservedDeclaration, key: StoredKey): StoreAction | undefined {
  return observed.declared.state === "Revoked" ? { do: "Revoke", reason: "Declared" } : planMoved(observed, key);
}

function planMoved({ references }: ObservedDeclaration, key: StoredKey): StoreAction | undefined {
  const isMoved = references.teamId !== null && key.teamId !== references.teamId;
  return isMoved ? { do: "Revoke", reason: "Moved" } : undefined;
}

/** True if the declaration is being deleted, and its key with it: a protected key lives on as declared meanwhile. */
export function isGoing(observed: ObservedDeclaration): boolean {
  const key = governedKey(observed);
  const isProtected = observed.declared.deletionProtection && key !== undefined && key.state !== "revoked";
  return observed.deleting && !isProtected;
}
