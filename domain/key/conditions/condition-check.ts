import type { StatedCondition } from "../../conditions.ts";
import type { ObservedKey } from "../observed/observed-key.ts";
import type { StoredKey } from "../stored/stored-key.ts";

/** The state of the world that a condition is stated of; `now` in milliseconds since the epoch. */
export type KeySituation = {
  readonly observed: ObservedKey;
  /** The stored key that the declaration governs. */
  readonly key: StoredKey | undefined;
  readonly now: number;
};

/**
 * The checks that decide a condition, by name and in order: the first that applies states it. A check is pure, and
 * returns false or undefined if it does not apply.
 */
export type ConditionChecks<Situation extends KeySituation> = Readonly<
  Record<string, (situation: Situation) => StatedCondition | false | undefined>
>;

/** Returns what the first check that applies states; undefined if none applies. */
export function firstStated<Situation extends KeySituation>(
  checks: ConditionChecks<Situation>,
  situation: Situation,
): StatedCondition | undefined {
  for (const check of Object.values(checks)) {
    const stated = check(situation);
    if (stated) return stated;
  }
  return undefined;
}
