import type { Spec } from "../../kinds/kinds.ts";

/** Maximum length of a recorded declaration, in characters of JSON. */
export const MAX_RECORDED_SPEC = 32_768;

/**
 * Returns what is recorded of a declaration for people to read: all of it except the digest of an imported secret.
 * Viewers may read the rest, and a secret from elsewhere may be short enough to be guessed by its digest.
 *
 * @returns null if the declaration is longer than {@link MAX_RECORDED_SPEC}
 */
export function recordedSpec(spec: Spec<"PlatformKey">): Spec<"PlatformKey"> | null {
  const { hash: _, ...source } = spec.source ?? {};
  const recorded = spec.source?.hash === undefined ? spec : { ...spec, source };
  return JSON.stringify(recorded).length > MAX_RECORDED_SPEC ? null : recorded;
}
