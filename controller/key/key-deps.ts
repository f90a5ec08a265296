import type { ControllerDeps } from "../context/deps.ts";
import type { KeyChanges } from "./key-changes.ts";
import type { KeyMemory } from "./key-memory.ts";

/** Dependencies of the reconciler of keys. */
export type KeyDeps = ControllerDeps & {
  /** Makes every revocation and change of policy of the controller. */
  readonly keyChanges: KeyChanges;
  readonly keyMemory: KeyMemory;
};
