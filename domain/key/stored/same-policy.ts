import { isDeepStrictEqual } from "node:util";
import type { KeyPolicy } from "./stored-key.ts";

/** Compares by content; the order of the lists does not matter, since they are sets. */
export function samePolicy(a: KeyPolicy, b: KeyPolicy): boolean {
  const sorted = (policy: KeyPolicy): KeyPolicy => ({
    ...policy,
    scopes: [...policy.scopes].sort(),
    libraryIds: policy.libraryIds && [...new Set(policy.libraryIds)].sort(),
    allowedModels: policy.allowedModels && [...new Set(policy.allowedModels)].sort(),
  });
  return isDeepStrictEqual(sorted(a), sorted(b));
}
