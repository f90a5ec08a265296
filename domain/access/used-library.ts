/**
 * A library that a key has used, null if the key may no longer reach it; and the last day of its use in UTC, as
 * `2026-11-25`.
 */
export type UsedLibrary = {
  readonly library: { readonly namespace: string; readonly name: string } | null;
  readonly lastUsedOn: string;
};

/** Maximum number of libraries recorded for a key, the latest ones: a key with as many may have used more. */
export const MAX_USED_LIBRARIES = 64;
