import type { StoredVersion } from "./stored-key.ts";

/** The end of a version that is another one than `expiresAfter` says. Milliseconds since the epoch; null for none. */
export type KeptEnd = { readonly number: number; readonly expiresAt: number | null };

/** When a version ends by what is declared, in milliseconds since the epoch; null for never. */
export function versionEnd(
  { number, mintedAt }: StoredVersion,
  expiresAfter: number | null,
  keptEnds: readonly KeptEnd[] = [],
): number | null {
  const kept = keptEnds.find((one) => one.number === number);
  if (kept !== undefined) return kept.expiresAt;
  return expiresAfter === null ? null : mintedAt + expiresAfter;
}
