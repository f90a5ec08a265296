/**
 * Reasons for which a key needs a new version: a chain of pure checks, each with its reason. The first that applies is
 * taken; the version may have to wait.
 */
import { textHash } from "../../text-hash.ts";
import type { ObservedKey } from "../observed/observed-key.ts";
import { type HealReason, type StoredKey, type StoredVersion, versionIn } from "../stored/stored-key.ts";
import { retireOldAt, slotFreeAt } from "../stored/version-slots.ts";

/** Reason for another version of a key whose Secret is as it should be. */
export type RotationReason = "RequestedByHand" | "TriggerChanged" | "IntervalPassed";
export type MintReason = "FirstVersion" | RotationReason | HealReason;

/** Part of the interval by which rotations may come early, spread by key so that a fleet does not move at once. */
const JITTER = 0.05;

type Check = (observed: ObservedKey, active: StoredVersion, key: StoredKey, now: number) => boolean;

const ISSUANCE_POLICY: readonly (readonly [MintReason, Check])[] = [
  ["RequestedByHand", (_, active, key) => key.rotationRequest !== null && key.rotationRequest.at > active.mintedAt],
  [
    "TriggerChanged",
    ({ declared }, active) => declared.rotationTrigger !== null && declared.rotationTrigger !== active.rotationTrigger,
  ],
  [
    "IntervalPassed",
    ({ declared, steadyFrom }, active, key, now) =>
      now >= Math.max(rotationDueAt(active, declared.rotationInterval, key.id), steadyFrom),
  ],
  [
    "SecretLost",
    ({ declared, secret }, active, _, now) => declared.secret.healLost && isLost(secret) && mayHeal(active, now),
  ],
  [
    "SecretTampered",
    ({ declared, secret }, active, _, now) =>
      declared.secret.healTampered && isTampered(secret, active) && mayHeal(active, now),
  ],
];

/** A version that a key is to have, and the earliest time at which it may be minted, in milliseconds since epoch. */
type WantedVersion = { readonly why: MintReason; readonly from: number };

/** Returns the new version that is wanted, or undefined if the present version will do. */
export function wantedVersion(
  observed: ObservedKey,
  key: StoredKey | undefined,
  now: number,
): WantedVersion | undefined {
  const active = versionIn(key, "active");
  if (key === undefined || active === undefined) return { why: "FirstVersion", from: now };
  const why = ISSUANCE_POLICY.find(([, applies]) => applies(observed, active, key, now))?.[0];
  if (why === undefined) return undefined;
  const slotAt = slotFreeAt(key, retireOldAt(key, observed.declared, now), now);
  return { why, from: isHeal(why) ? Math.max(slotAt, healAt(active, key)) : slotAt };
}

export function isRotation(why: MintReason): why is RotationReason {
  return why !== "FirstVersion" && !isHeal(why);
}

export function isHeal(why: MintReason): why is HealReason {
  return why === "SecretLost" || why === "SecretTampered";
}

/** Returns when the interval asks for the next version, in milliseconds since the epoch; Infinity if there is none. */
export function rotationDueAt(
  active: Pick<StoredVersion, "number" | "mintedAt">,
  interval: number | null,
  keyId: string,
): number {
  if (interval === null) return Number.POSITIVE_INFINITY;
  return active.mintedAt + Math.floor(interval * (1 - JITTER * spread(`${keyId}/${active.number}`)));
}

/** True if the Secret, or the data key in it, is not there. */
export function isLost(secret: ObservedKey["secret"]): boolean {
  return secret.state === "absent" || (secret.state === "ours" && secret.holds === "nothing");
}

/** True if the Secret is ours and holds something else than the active version. */
export function isTampered(secret: ObservedKey["secret"], active: StoredVersion): boolean {
  return secret.state === "ours" && secret.holds !== "nothing" && secret.holds !== active.number;
}

/**
 * Milliseconds between a mint and the next healing of the Secret, by the number of healings within the overlap: none
 * at first, longer if something keeps undoing it. No pause is longer than the last (architecture §2, I8); the mints end
 * only because no slot is free for another version.
 */
const HEAL_PAUSES_MS = [0, 5_000, 30_000];

/** Returns the losses of its Secret that activated versions have made good within the overlap, oldest first. */
export function recentHeals(key: StoredKey): NonNullable<StoredVersion["heals"]>[] {
  return key.versions
    .filter(({ state, activatedAt }) => activatedAt !== null && (state === "active" || state === "retiring"))
    .flatMap(({ heals }) => (heals === null ? [] : [heals]))
    .toReversed();
}

/** Returns when a lost or edited Secret may get a new version, regardless of free slots, in ms since the epoch. */
function healAt(active: StoredVersion, key: StoredKey): number {
  return active.mintedAt + (HEAL_PAUSES_MS[recentHeals(key).length] ?? Math.max(...HEAL_PAUSES_MS));
}

/** True if a version may be healed: not if it expired, which would give the key a new life, nor if it was imported. */
function mayHeal(active: StoredVersion, now: number): boolean {
  return !active.imported && (active.expiresAt === null || now < active.expiresAt);
}

/** Returns a number in [0, 1) that depends on the text alone. */
function spread(text: string): number {
  return textHash(text) / 0x1_0000_0000;
}
