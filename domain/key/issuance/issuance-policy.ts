/**
 * Why a key needs a new version: a chain of checks, each pure, each with its reason. The first that applies is taken;
 * it may have to wait.
 */
import type { ObservedKey } from "../observed/observed-key.ts";
import { type HealReason, type StoredKey, type StoredVersion, versionIn } from "../stored/stored-key.ts";
import { retireOldAt, roomAt } from "../stored/version-room.ts";

/** What asks for another version of a key whose Secret is as it should be. */
export type RotationReason = "RequestedByHand" | "TriggerChanged" | "IntervalPassed";
export type MintReason = "FirstVersion" | RotationReason | HealReason;

/**
 * Interval rotations come up to this part of the interval early, spread by key, so that a fleet does not move at once.
 */
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

/** A version that a key is to have, and from when on it may be minted, in milliseconds since the epoch. */
type WantedVersion = { readonly why: MintReason; readonly from: number };

/** The new version that is wanted, or undefined when the one there is will do. */
export function wantedVersion(
  observed: ObservedKey,
  key: StoredKey | undefined,
  now: number,
): WantedVersion | undefined {
  const active = versionIn(key, "active");
  if (key === undefined || active === undefined) return { why: "FirstVersion", from: now };
  const why = ISSUANCE_POLICY.find(([, applies]) => applies(observed, active, key, now))?.[0];
  if (why === undefined) return undefined;
  const room = roomAt(key, retireOldAt(key, observed.declared, now), now);
  return { why, from: isHeal(why) ? Math.max(room, healAt(active, key)) : room };
}

export function isRotation(why: MintReason): why is RotationReason {
  return why !== "FirstVersion" && !isHeal(why);
}

export function isHeal(why: MintReason): why is HealReason {
  return why === "SecretLost" || why === "SecretTampered";
}

/** When the interval asks for the next version, in milliseconds since the epoch; Infinity without an interval. */
export function rotationDueAt(
  active: Pick<StoredVersion, "number" | "mintedAt">,
  interval: number | null,
  keyId: string,
): number {
  if (interval === null) return Number.POSITIVE_INFINITY;
  return active.mintedAt + Math.floor(interval * (1 - JITTER * spread(`${keyId}/${active.number}`)));
}

/** The Secret, or the data key in it, is not there. */
export function isLost(secret: ObservedKey["secret"]): boolean {
  return secret.state === "absent" || (secret.state === "ours" && secret.holds === "nothing");
}

/** The Secret is ours and holds something else than the active version. */
export function isTampered(secret: ObservedKey["secret"], active: StoredVersion): boolean {
  return secret.state === "ours" && secret.holds !== "nothing" && secret.holds !== active.number;
}

/**
 * How long after a mint a Secret is healed, in milliseconds, by how many times that was done within the overlap: at
 * once, unless something keeps undoing it. No pause is longer than the last (architecture §2, I8); what ends the mints
 * is that there is no room for another version.
 */
const HEAL_PAUSES_MS = [0, 5_000, 30_000];

/** The losses of its Secret that a key has got over within the overlap, by a version that was activated, oldest first. */
export function recentHeals(key: StoredKey): NonNullable<StoredVersion["heals"]>[] {
  return key.versions
    .filter(({ state, activatedAt }) => activatedAt !== null && (state === "active" || state === "retiring"))
    .flatMap(({ heals }) => (heals === null ? [] : [heals]))
    .toReversed();
}

/** The earliest moment at which a lost or edited Secret gets a new version, room apart, in ms since the epoch. */
function healAt(active: StoredVersion, key: StoredKey): number {
  return active.mintedAt + (HEAL_PAUSES_MS[recentHeals(key).length] ?? Math.max(...HEAL_PAUSES_MS));
}

/** A version past its own end is not healed: that would give an expired key a new life. An imported one is not ours. */
function mayHeal(active: StoredVersion, now: number): boolean {
  return !active.imported && (active.expiresAt === null || now < active.expiresAt);
}

/** A number from 0 up to 1 that depends on the text alone (FNV-1a). */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) / 0x1_0000_0000;
}
