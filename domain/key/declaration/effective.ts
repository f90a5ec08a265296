/** Effective values of a key's declaration whose defaults a schema cannot express. */
import { PRESETS, type Scope } from "../../access/scopes.ts";
import type { PlatformKeySpec } from "../../kinds/generated/platform-key.ts";

/** Returns the scopes that `preset` or `scopes` stand for (spec §1). */
export function effectiveScopes(spec: Pick<PlatformKeySpec, "preset" | "scopes">): Scope[] {
  return spec.preset === undefined ? [...(spec.scopes ?? [])] : [...PRESETS[spec.preset]];
}

/** Returns the Secret that the plaintext is written to: named after the key unless the spec names another (spec §8). */
export function secretTarget(name: string, spec: Pick<PlatformKeySpec, "secret">): { name: string; dataKey: string } {
  return { name: spec.secret.name ?? name, dataKey: spec.secret.dataKey };
}
