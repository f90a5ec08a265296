/** What is said of a Secret that somebody keeps deleting or editing, while its healing waits. */
import { rfc3339 } from "../rfc3339.ts";
import { recentHeals } from "./issuance-policy.ts";
import type { ObservedKey } from "./observed-key.ts";
import type { HealReason, StoredKey } from "./stored-key.ts";

const DONE: Readonly<Record<HealReason, string>> = { SecretLost: "deleted", SecretTampered: "edited" };

/**
 * How often, when and by whom, as far as that can be told, and until when nothing is minted.
 *
 * @param now what has become of it this time
 * @param from when the next version may be minted, in milliseconds since the epoch
 */
export function contestedSecret(
  { declared, undoneSince, secretMarks }: ObservedKey,
  key: StoredKey,
  now: HealReason,
  from: number,
): string {
  const all = [...recentHeals(key), ...(undoneSince === null ? [] : [{ reason: now, at: undoneSince }])];
  const times = all.map(({ reason, at }) => `${DONE[reason]} ${rfc3339(at)}`).join(", ");
  const marks =
    secretMarks.length === 0
      ? "When it was last read nobody else had left a mark on it."
      : `When it was last read it bore: ${secretMarks.join("; ")}.`;
  const often = all.length === 1 ? "once" : `${all.length} times`;
  return `Secret ${declared.secret.name} was deleted or edited ${often} within the overlap (${times}). So that no old version ends before its time, the next one is minted at ${rfc3339(from)}. ${marks}`;
}
