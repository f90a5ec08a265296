import type { StoredVersion } from "./stored-key.ts";

/** Expiry of a version that differs from what `expiresAfter` says. Milliseconds since the epoch; null for none. */
export type KeptEnd = { readonly number: number; readonly expiresAt: number | null };

/** Returns the declared expiry of a version, in milliseconds since the epoch; null for never. */
export function versionEnd(
  { number, mintedAt }: StoredVersion,
  expiresAfter: number | null,
  keptEnds: readonly KeptEnd[] = [],
): number | null {
  const kept = keptEnds.find((one) => one.number === number);
  if (kept !== undefined) return kept.expiresAt;
  return expiresAfter === null ? null : mintedAt + expiresAfter;
}
