/**
 * Overlap Adoption (spec §5): an old version ends after `min`, as soon as a newer one has been used and it has itself
 * been unused for `quiet`, by what every replica has written; whatever is not known lets it go on until `max`.
 */
import { USAGE_FLUSH_MS } from "../../protocol.ts";
import type { Overlap } from "../declaration/declared-key.ts";
import type { ObservedKey } from "../observed/observed-key.ts";
import type { StoredKey, StoredVersion } from "../stored/stored-key.ts";

/** No more looks than this come in `quiet`, however little is missing: of many keys in their overlap each costs one. */
const LOOKS_IN_QUIET = 10;

/** A retiring version that may end now though its deadline has not come: the oldest. */
export function adoptedVersion(observed: ObservedKey, key: StoredKey, now: number): StoredVersion | undefined {
  return retiringVersions(key)
    .toReversed()
    .find((version) => earliestEnd(version, observed, key, now) <= now);
}

/**
 * When to look again whether an old version has been left, in milliseconds since the epoch: the earliest moment at
 * which that could be, as far as is known now. Usage is in no feed, and nothing else prompts a look. Infinity where its
 * deadline comes first.
 */
export function nextAdoptionLook(observed: ObservedKey, key: StoredKey, now: number): number {
  const looks = retiringVersions(key).map((version) => {
    const at = earliestEnd(version, observed, key, now);
    return at < (version.retireAt ?? 0) ? at : Number.POSITIVE_INFINITY;
  });
  return Math.min(...looks, Number.POSITIVE_INFINITY);
}

/** Newest first. */
export function retiringVersions(key: StoredKey): readonly StoredVersion[] {
  return key.versions.filter(({ state }) => state === "retiring");
}

/** When `min` is over for a retiring version, counted from when its successor was delivered. */
export function leastOverlapEnds(old: StoredVersion, key: StoredKey, min: number): number {
  const successor = newerVersions(old, key).at(-1);
  return (successor?.activatedAt ?? Number.POSITIVE_INFINITY) + min;
}

/** Those that were delivered after it, newest first. */
function newerVersions({ number }: StoredVersion, key: StoredKey): readonly StoredVersion[] {
  return key.versions.filter((version) => version.number > number && version.activatedAt !== null);
}

/** Not after `now` where it may end at once. */
function earliestEnd(old: StoredVersion, observed: ObservedKey, key: StoredKey, now: number): number {
  const { overlap } = observed.declared;
  if (overlap.mode !== "Adoption") return Number.POSITIVE_INFINITY;
  const afterMin = leastOverlapEnds(old, key, overlap.min);
  return now < afterMin ? afterMin : now + adoptionWait(old, observed, key, overlap);
}

/** How long it takes at least until the old version counts as left; not above 0 where it does. Milliseconds. */
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
