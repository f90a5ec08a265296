import type { ControllerDeps } from "../context/deps.ts";
import type { KeyChanges } from "./key-changes.ts";
import type { KeyMemory } from "./key-memory.ts";

/** What the reconciler of keys is given besides. */
export type KeyDeps = ControllerDeps & {
  /** Every revocation and change of policy of the controller's. */
  readonly keyChanges: KeyChanges;
  readonly keyMemory: KeyMemory;
};
