/**
 * How many versions of a key go on side by side (I1). An old one is never ended before its time for being one too many:
 * a new one waits until the next of them ends.
 */
import { type DeclaredKey, overlapLimit } from "./declared-key.ts";
import { type StoredKey, type StoredVersion, versionIn } from "./stored-key.ts";

/** Old versions beside the active one. */
export const MAX_RETIRING = 4;

/**
 * When a retiring version stops working, in milliseconds since the epoch: at its deadline, or its own end before it.
 */
export function retiringEndsAt({ retireAt, expiresAt }: Pick<StoredVersion, "retireAt" | "expiresAt">): number {
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
  const ends = versions.filter(({ state }) => state === "retiring").map(retiringEndsAt);
  return ends.length < MAX_RETIRING || oldEndsAt <= now ? now : Math.min(...ends);
}

/** Reservations at a time: versions whose secret is in no Secret yet, and may be on its way to it. */
export const MAX_RESERVED = 4;

/**
 * How long a write of a Secret may still arrive after its sender has ended, in milliseconds: an API server gives a
 * request up after a minute.
 */
const LATE_WRITE_MS = 60_000;

/**
 * The reservation that makes way for the next one, where there are as many as may be: the oldest. Each that is there as
 * a new one is wanted is lost, its secret gone with the process that held it, and a later one was made only then. So it
 * is voided no sooner than a write of it can arrive no more: a Secret must not be given a secret that is refused.
 *
 * @returns its number, and from when on it may be voided, in milliseconds since the epoch; undefined where there is
 * room
 */
export function supersededReservation({ versions }: StoredKey): { number: number; from: number } | undefined {
  const reserved = versions.filter(({ state }) => state === "reserved");
  const [oldest, next] = reserved.toSorted((a, b) => a.number - b.number);
  if (reserved.length < MAX_RESERVED || oldest === undefined || next === undefined) return undefined;
  return { number: oldest.number, from: next.mintedAt + LATE_WRITE_MS };
}
