/**
 * Slots for old and for reserved versions of a key (I1). An old version never ends early because there are too many:
 * a new version waits until the next old version ends.
 */
import { type DeclaredKey, overlapLimit } from "../declaration/declared-key.ts";
import { type StoredKey, type StoredVersion, versionIn } from "./stored-key.ts";

/**
 * Maximum number of old versions beside the active one. The table `key_versions` has this many slots for them. `crds/`
 * derives from it the shortest rotation interval and the number of versions in a status.
 */
export const MAX_RETIRING = 4;

/**
 * Returns when a retiring version stops working, in milliseconds since the epoch: at its deadline or own expiry,
 * whichever is earlier.
 */
export function retiringEndsAt({ retireAt, expiresAt }: Pick<StoredVersion, "retireAt" | "expiresAt">): number {
  return Math.min(retireAt ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns when the version that is succeeded at `now` stops working, in milliseconds since the epoch. A time not after
 * `now`, asked for by hand or by an overlap of 0, means that it ends at once, and every earlier version with it.
 */
export function retireOldAt(key: StoredKey, { overlap }: Pick<DeclaredKey, "overlap">, now: number): number {
  const active = versionIn(key, "active");
  const byHand = key.rotationRequest;
  if (byHand?.revokeOld === true && byHand.at > (active?.mintedAt ?? Number.NEGATIVE_INFINITY)) return now;
  return now + overlapLimit(overlap);
}

/**
 * Returns the versions that a version succeeds as it becomes active, and that go on for the overlap: the active
 * version, and each reserved version that may have been read from the Secret before the Secret was lost.
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
 * Returns when the old versions have free slots for `more` versions, in milliseconds since the epoch: `now` if they
 * have them already.
 *
 * @param oldEndsAt when the added versions would end: versions that end at once need no slot
 * @param more at most {@link MAX_RETIRING}
 */
export function slotFreeAt(
  { versions }: Pick<StoredKey, "versions">,
  oldEndsAt: number,
  now: number,
  more = 1,
): number {
  const ends = versions.filter(({ state }) => state === "retiring").map(retiringEndsAt);
  const tooMany = ends.length + more - MAX_RETIRING;
  return oldEndsAt <= now ? now : (ends.toSorted((a, b) => a - b)[tooMany - 1] ?? now);
}

/** Maximum number of reservations at a time. The secret of a reservation is in no Secret yet, but may be on its way. */
export const MAX_RESERVED = 4;

/**
 * Milliseconds in which a write of a Secret may still arrive after its sender has ended: an API server gives up a
 * request after a minute.
 */
const LATE_WRITE_MS = 60_000;

/** A reservation that makes way for the next one. Times are milliseconds since the epoch. */
export type SupersededReservation = {
  readonly number: number;
  /** Earliest time at which the next reservation may be made. */
  readonly from: number;
  /** Time at which it stops working: not after now if it is voided, later if its overlap begins. */
  readonly endsAt: number;
};

/**
 * Returns the reservation that makes way for the next one when {@link MAX_RESERVED} exist: the oldest. When a new
 * reservation is wanted, each existing one is lost, because its secret is gone with the process that held it, and a
 * later
 * reservation was made only after that. It makes way only once a write of it can no longer arrive: a Secret must not be
 * given a secret that is refused. A reservation that may have been read is not voided: its overlap begins as soon as an
 * old version's slot is free.
 *
 * @returns undefined if another reservation may be made without superseding any
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
  const from = Math.max(next.mintedAt + LATE_WRITE_MS, slotFreeAt(key, endsAt, now));
  return { number: oldest.number, from, endsAt };
}
