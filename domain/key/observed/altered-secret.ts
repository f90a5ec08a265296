/** Decisions and messages about a key's Secret that something else changes as it is written, or again and again. */
import type { AlteredSecret, ObservedKey, SecretField } from "./observed-key.ts";

/**
 * Milliseconds for which such a Secret is left alone before it is written again (architecture §2, I8): if the answer to
 * the write shows the change, so would the next one; an occasional change is put right sooner.
 */
const ANSWERED_PAUSE_MS = 60_000;
const LATER_PAUSE_MS = 30_000;

/** Returns when a Secret that was changed may be written again, in milliseconds since the epoch. */
export function rewriteFrom({ writtenAt, isShownInAnswer }: AlteredSecret): number {
  return writtenAt + (isShownInAnswer ? ANSWERED_PAUSE_MS : LATER_PAUSE_MS);
}

/** True if the Secret that delivers a version was changed, and is not to be written again yet. */
export function isRewriteEarly({ altered }: ObservedKey, version: number, now: number): boolean {
  return altered?.version === version && now < rewriteFrom(altered);
}

/** Returns the foreign changes to the Secret that delivers a version; undefined if it is as declared or immutable. */
export function alteredDelivery({ altered, secret }: ObservedKey, version: number): AlteredSecret | undefined {
  if (altered?.version !== version || secret.state !== "ours" || secret.rendered || secret.immutable) return undefined;
  return altered;
}

/** Returns a message that names the fields that something else changes, and none of their values. */
export function alteredSecret({ declared }: ObservedKey, { fields, isShownInAnswer }: AlteredSecret): string {
  const { name } = declared.secret;
  return isShownInAnswer
    ? `Something else changes Secret ${name} as it is written: ${fields.join(", ")}. It is written again once a minute.`
    : `Something else keeps changing Secret ${name}: ${fields.join(", ")}. It is written again every 30 seconds.`;
}

/** True if workloads may miss something that is declared: a data key has another value, or is not there. */
export function isDataAltered(fields: readonly SecretField[]): boolean {
  return fields.some((field) => field.startsWith("data["));
}
