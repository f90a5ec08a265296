import type { Spec } from "../../kinds/kinds.ts";

/** Escape of a NUL or of half of a surrogate pair in JSON, which no database takes out again. */
const NOT_STORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;
/** Maximum length of a recorded declaration, in characters of JSON. */
export const MAX_RECORDED_SPEC = 32_768;

/**
 * Returns what is recorded of a declaration for people to read: all of it except the digest of an imported secret.
 * Viewers may read the rest, and a secret from elsewhere may be short enough to be guessed by its digest.
 *
 * @returns null if the declaration is longer than {@link MAX_RECORDED_SPEC}, or has text that cannot be stored, which
 * definitions of an older version let through
 */
export function recordedSpec(spec: Spec<"PlatformKey">): Spec<"PlatformKey"> | null {
  const { hash: _, ...source } = spec.source ?? {};
  const recorded = spec.source?.hash === undefined ? spec : { ...spec, source };
  const json = JSON.stringify(recorded);
  return json.length > MAX_RECORDED_SPEC || NOT_STORABLE.test(json) ? null : recorded;
}
