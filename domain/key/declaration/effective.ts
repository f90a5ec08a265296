/** What a key's declaration comes to where it leaves something to a default that a schema cannot say. */
import { PRESETS, type Scope } from "../../access/scopes.ts";
import type { PlatformKeySpec } from "../../kinds/generated/platform-key.ts";

/** The scopes that `preset` or `scopes` come to (spec §1). */
export function effectiveScopes(spec: Pick<PlatformKeySpec, "preset" | "scopes">): Scope[] {
  return spec.preset === undefined ? [...(spec.scopes ?? [])] : [...PRESETS[spec.preset]];
}

/** Where the plaintext is written: a Secret named after the key unless it says otherwise (spec §8). */
export function secretTarget(name: string, spec: Pick<PlatformKeySpec, "secret">): { name: string; dataKey: string } {
  return { name: spec.secret.name ?? name, dataKey: spec.secret.dataKey };
}
