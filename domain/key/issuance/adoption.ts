/**
 * Overlap Adoption (spec §5): an old version ends after `min`, as soon as a newer version has been used and the old one
 * has been unused for `quiet`, by what every replica has written. While any of this is unknown, it goes on until `max`.
 */
import { USAGE_FLUSH_MS } from "../../protocol.ts";
import type { Overlap } from "../declaration/declared-key.ts";
import type { ObservedKey } from "../observed/observed-key.ts";
import type { StoredKey, StoredVersion } from "../stored/stored-key.ts";

/** Maximum number of looks within `quiet`, however little is missing: with many keys in an overlap each look costs. */
const LOOKS_IN_QUIET = 10;

/** Returns the oldest retiring version that may end now although its deadline has not come; undefined if none may. */
export function adoptedVersion(observed: ObservedKey, key: StoredKey, now: number): StoredVersion | undefined {
  return retiringVersions(key)
    .toReversed()
    .find((version) => earliestEnd(version, observed, key, now) <= now);
}

/**
 * Returns when to look again whether an old version has been abandoned, in milliseconds since the epoch: the earliest
 * time at which that is possible, as far as is known now. Usage is in no feed, so nothing else prompts a look. Infinity
 * if its deadline comes first.
 */
export function nextAdoptionLook(observed: ObservedKey, key: StoredKey, now: number): number {
  const looks = retiringVersions(key).map((version) => {
    const at = earliestEnd(version, observed, key, now);
    return at < (version.retireAt ?? 0) ? at : Number.POSITIVE_INFINITY;
  });
  return Math.min(...looks, Number.POSITIVE_INFINITY);
}

/** Returns the retiring versions, newest first. */
export function retiringVersions(key: StoredKey): readonly StoredVersion[] {
  return key.versions.filter(({ state }) => state === "retiring");
}

/** Returns when `min` is over for a retiring version, counted from the delivery of its successor. */
export function leastOverlapEnds(old: StoredVersion, key: StoredKey, min: number): number {
  const successor = newerVersions(old, key).at(-1);
  return (successor?.activatedAt ?? Number.POSITIVE_INFINITY) + min;
}

/** Returns the versions that were delivered after a version, newest first. */
function newerVersions({ number }: StoredVersion, key: StoredKey): readonly StoredVersion[] {
  return key.versions.filter((version) => version.number > number && version.activatedAt !== null);
}

/** Returns the earliest time at which a version may end by adoption; not after `now` if it may end at once. */
function earliestEnd(old: StoredVersion, observed: ObservedKey, key: StoredKey, now: number): number {
  const { overlap } = observed.declared;
  if (overlap.mode !== "Adoption") return Number.POSITIVE_INFINITY;
  const afterMin = leastOverlapEnds(old, key, overlap.min);
  return now < afterMin ? afterMin : now + adoptionWait(old, observed, key, overlap);
}

/** Returns the minimum milliseconds until the old version counts as abandoned; 0 or less if it does already. */
function adoptionWait(
  old: StoredVersion,
  { usage }: ObservedKey,
  key: StoredKey,
  { quiet }: Overlap & { mode: "Adoption" },
): number {
  const atLeast = Math.max(USAGE_FLUSH_MS, quiet / LOOKS_IN_QUIET);
  if (usage === null || usage.knownUntil === null) return atLeast;
  const lastUse = usage.lastUses.find(({ version }) => version === old.number)?.at ?? old.mintedAt;
  const unusedFor = usage.knownUntil - Math.max(lastUse, usage.lostUntil ?? Number.NEGATIVE_INFINITY);
  const newer = new Set(newerVersions(old, key).map(({ number }) => number));
  const isAdopted = usage.lastUses.some(({ version }) => newer.has(version));
  return isAdopted && unusedFor >= quiet ? 0 : Math.max(quiet - unusedFor, atLeast);
}
