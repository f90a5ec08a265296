/**
 * How many versions of a key go on side by side (I1). An old one is never ended before its time for being one too many:
 * a new one waits until the next of them ends.
 */
import { type DeclaredKey, overlapLimit } from "./declared-key.ts";
import { type StoredKey, type StoredVersion, versionIn } from "./stored-key.ts";

/** Old versions beside the active one. */
export const MAX_RETIRING = 4;

/** When a retiring version stops working, in milliseconds since the epoch: at its deadline, or its own end before it. */
export function retiringEndsAt({ retireAt, expiresAt }: StoredVersion): number {
  return Math.min(retireAt ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY);
}

/**
 * When the version that is succeeded at `now` stops working, in milliseconds since the epoch. Not after `now`: it ends
 * at once, and every earlier one with it, since that was asked for.
 */
export function retireOldAt(key: StoredKey, { overlap }: Pick<DeclaredKey, "overlap">, now: number): number {
  const active = versionIn(key, "active");
  const byHand = key.rotationRequest;
  if (active !== undefined && byHand?.revokeOld === true && byHand.at > active.mintedAt) return now;
  return now + overlapLimit(overlap);
}

/**
 * When there is room for the active version among the old ones, in milliseconds since the epoch: not after `now` where
 * there is.
 *
 * @param oldEndsAt when the active version would end: one that ends at once needs none
 */
export function roomAt({ versions }: Pick<StoredKey, "versions">, oldEndsAt: number, now: number): number {
  const ends = versions
    .filter(({ state }) => state === "retiring")
    .map(retiringEndsAt)
    .filter((at) => at > now);
  return ends.length < MAX_RETIRING || oldEndsAt <= now ? now : Math.min(...ends);
}
