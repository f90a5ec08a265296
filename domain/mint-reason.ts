/**
 * Why a key needs a new version: a chain of checks, each pure, each with its reason. The first that applies is taken.
 */
import type { ObservedKey } from "./observed-key.ts";
import { type StoredKey, type StoredVersion, versionIn } from "./stored-key.ts";

export type MintReason =
  | "FirstVersion"
  | "RequestedByHand"
  | "TriggerChanged"
  | "IntervalPassed"
  | "SecretLost"
  | "SecretTampered";

/** Interval rotations come up to this part of the interval early, spread by key, so that a fleet does not move at once. */
const JITTER = 0.05;

/** Whether a rotation is due that has to wait, since it would end an old version before its deadline. */
export function isRotationHeldBack({ declared }: ObservedKey, key: StoredKey, now: number): boolean {
  const active = versionIn(key, "active");
  return active !== undefined && !hasRoom(key) && isRotationDue(declared, active, key, now);
}

function isRotationDue(declared: ObservedKey["declared"], active: StoredVersion, key: StoredKey, now: number): boolean {
  return isTriggered(declared, active) || now >= rotationDueAt(active, declared.rotationInterval, key.id);
}

function isTriggered({ rotationTrigger }: ObservedKey["declared"], active: StoredVersion): boolean {
  return rotationTrigger !== null && rotationTrigger !== active.rotationTrigger;
}

type Check = (observed: ObservedKey, active: StoredVersion, key: StoredKey, now: number) => boolean;

const CHECKS: readonly (readonly [MintReason, Check])[] = [
  ["RequestedByHand", (_, active, key) => key.rotationRequest !== null && key.rotationRequest.at > active.mintedAt],
  ["TriggerChanged", ({ declared }, active, key) => isTriggered(declared, active) && hasRoom(key)],
  [
    "IntervalPassed",
    ({ declared }, active, key, now) => now >= rotationDueAt(active, declared.rotationInterval, key.id) && hasRoom(key),
  ],
  [
    "SecretLost",
    ({ declared, secret }, active, key, now) => declared.secret.healLost && isLost(secret) && mayHeal(active, key, now),
  ],
  [
    "SecretTampered",
    ({ declared, secret }, active, key, now) =>
      declared.secret.healTampered && isTampered(secret, active) && mayHeal(active, key, now),
  ],
];

/** Why a new version has to be minted at `now`, or undefined when the one there is will do. */
export function mintReason(observed: ObservedKey, key: StoredKey | undefined, now: number): MintReason | undefined {
  const active = versionIn(key, "active");
  if (key === undefined || active === undefined) return "FirstVersion";
  return CHECKS.find(([, applies]) => applies(observed, active, key, now))?.[0];
}

/** When the interval asks for the next version, in milliseconds since the epoch; Infinity without an interval. */
export function rotationDueAt(active: StoredVersion, interval: number | null, keyId: string): number {
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

/** Old versions that go on beside the active one; a third would end the first before its overlap is over. */
const MOST_RETIRING = 2;
/**
 * How long after a mint a Secret is healed, in milliseconds, by how many old versions still go on: at once, unless
 * somebody keeps undoing it.
 */
const HEAL_PAUSES = [0, 5_000, 30_000];

function retiringVersions(key: StoredKey): number {
  return key.versions.filter(({ state }) => state === "retiring").length;
}

/** Whether a rotation would break no client that reloads within the overlap (spec §6): else it waits for a deadline. */
function hasRoom(key: StoredKey): boolean {
  return retiringVersions(key) < MOST_RETIRING;
}

/** The earliest moment at which a lost or edited Secret gets a new version, in milliseconds since the epoch. */
export function healAt(active: StoredVersion, key: StoredKey): number {
  return active.mintedAt + (HEAL_PAUSES[retiringVersions(key)] ?? 0);
}

/** A version past its own end is not healed: that would give an expired key a new life. An imported one is not ours. */
function mayHeal(active: StoredVersion, key: StoredKey, now: number): boolean {
  const hasEnded = active.expiresAt !== null && now >= active.expiresAt;
  return !active.imported && !hasEnded && now >= healAt(active, key);
}

/** A number from 0 up to 1 that depends on the text alone (FNV-1a). */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) / 0x1_0000_0000;
}
