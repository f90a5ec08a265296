/**
 * How many versions of a key go on side by side (I1). An old one is never ended before its time for being one too many:
 * a new one waits until the next of them ends.
 */
import { type DeclaredKey, overlapLimit } from "../declaration/declared-key.ts";
import { type StoredKey, type StoredVersion, versionIn } from "./stored-key.ts";

/**
 * Old versions beside the active one. The table `key_versions` has as many places for them, and `crds/` says by it how
 * short the interval of a rotation may be and how many versions a status has room for.
 */
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
  if (byHand?.revokeOld === true && byHand.at > (active?.mintedAt ?? Number.NEGATIVE_INFINITY)) return now;
  return now + overlapLimit(overlap);
}

/**
 * The versions that a version succeeds as it becomes the active one, and that go on for the overlap: the active one, and
 * each reserved one that may have been read from the Secret before that was lost.
 */
export function succeededBy<V extends Pick<StoredVersion, "number" | "state" | "mayBeRead">>(
  number: number,
  versions: readonly V[],
): V[] {
  return versions.filter(
    (one) => one.number !== number && (one.state === "active" || (one.state === "reserved" && one.mayBeRead)),
  );
}

/**
 * When there is room among the old versions for so many more, in milliseconds since the epoch: not after `now` where
 * there is.
 *
 * @param oldEndsAt when those would end: what ends at once needs no room
 * @param more at most {@link MAX_RETIRING}
 */
export function roomAt({ versions }: Pick<StoredKey, "versions">, oldEndsAt: number, now: number, more = 1): number {
  const ends = versions.filter(({ state }) => state === "retiring").map(retiringEndsAt);
  const tooMany = ends.length + more - MAX_RETIRING;
  return oldEndsAt <= now ? now : (ends.toSorted((a, b) => a - b)[tooMany - 1] ?? now);
}

/** Reservations at a time: versions whose secret is in no Secret yet, and may be on its way to it. */
export const MAX_RESERVED = 4;

/**
 * How long a write of a Secret may still arrive after its sender has ended, in milliseconds: an API server gives a
 * request up after a minute.
 */
const LATE_WRITE_MS = 60_000;

/** A reservation that makes way for the next one. Times are milliseconds since the epoch. */
export type SupersededReservation = {
  readonly number: number;
  /** From when on the next one may be made. */
  readonly from: number;
  /** When it stops working: not after now for one that is voided, later for one whose overlap begins. */
  readonly endsAt: number;
};

/**
 * The reservation that makes way for the next one, where there are as many as may be: the oldest. Each that is there as
 * a new one is wanted is lost, its secret gone with the process that held it, and a later one was made only then. So it
 * makes way no sooner than a write of it can arrive no more: a Secret must not be given a secret that is refused. One
 * that may have been read is not voided: its overlap begins, as soon as there is room for it.
 *
 * @returns undefined where there is room for another reservation
 */
export function supersededReservation(
  key: StoredKey,
  declared: Pick<DeclaredKey, "overlap">,
  now: number,
): SupersededReservation | undefined {
  const reserved = key.versions.filter(({ state }) => state === "reserved");
  const [oldest, next] = reserved.toSorted((a, b) => a.number - b.number);
  if (reserved.length < MAX_RESERVED || oldest === undefined || next === undefined) return undefined;
  const endsAt = oldest.mayBeRead ? retireOldAt(key, declared, now) : now;
  const from = Math.max(next.mintedAt + LATE_WRITE_MS, roomAt(key, endsAt, now));
  return { number: oldest.number, from, endsAt };
}
