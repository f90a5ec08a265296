/**
 * A library that a key has used, null for one that it may not reach any more; and the last day of that in UTC, as
 * `2026-11-25`.
 */
export type UsedLibrary = {
  readonly library: { readonly namespace: string; readonly name: string } | null;
  readonly lastUsedOn: string;
};

/** So many libraries of a key are kept, the last ones: where there are as many, there may have been more. */
export const MAX_USED_LIBRARIES = 64;
