/** Message about a Secret that keeps being deleted or edited, while its healing waits. */
import { rfc3339 } from "../../rfc3339.ts";
import { recentHeals } from "../issuance/issuance-policy.ts";
import type { ObservedKey } from "../observed/observed-key.ts";
import type { HealReason, StoredKey } from "../stored/stored-key.ts";
import { MAX_RETIRING, retireOldAt, slotFreeAt } from "../stored/version-slots.ts";

const DONE: Readonly<Record<HealReason, string>> = { SecretLost: "deleted", SecretTampered: "edited" };

/**
 * Returns how often and when the Secret was deleted or edited, by which tools as far as known, until when nothing is
 * minted, and why.
 *
 * @param reason the fault of the Secret this time
 * @param from when the next version may be minted, in milliseconds since the epoch, later than now
 * @param now milliseconds since the epoch
 */
export function contestedSecret(
  { declared, undoneSince, secretMarks }: ObservedKey,
  key: StoredKey,
  reason: HealReason,
  from: number,
  now: number,
): string {
  const all = [...recentHeals(key), ...(undoneSince === null ? [] : [{ reason, at: undoneSince }])];
  const times = all.map(({ reason, at }) => `${DONE[reason]} ${rfc3339(at)}`).join(", ");
  const marks =
    secretMarks.length === 0
      ? "When it was last read, it had no mark of another tool."
      : `When it was last read, it carried: ${secretMarks.join("; ")}.`;
  const often = all.length === 1 ? "once" : `${all.length} times`;
  const isFull = slotFreeAt(key, retireOldAt(key, declared, now), now) > now;
  const wait = isFull
    ? `${MAX_RETIRING} old versions still work, and a key has no more of them: the next one is minted at ${rfc3339(from)}, when the first of them ends.`
    : `There is room for another version, and it is minted at ${rfc3339(from)}.`;
  return `Secret ${declared.secret.name} was deleted or edited ${often} within the overlap (${times}). ${wait} ${marks}`;
}
