import type { DeclaredPolicy } from "./declared-policy.ts";
import type { RuleName } from "./rules-in-force.ts";

/** A policy of a key's team, with the times since when its rules hold for that team; without one where not known yet. */
export type TeamPolicy = DeclaredPolicy & { readonly since: Readonly<Partial<Record<RuleName, number>>> };

/** The policies that are for a key's team. */
export type TeamPolicies = {
  readonly policies: readonly TeamPolicy[];
  /** The uids of those that cannot be read, and may be for any team. */
  readonly unreadable: readonly string[];
};

/** No policies at all. */
export const NO_POLICIES: TeamPolicies = { policies: [], unreadable: [] };

/** When a rule holds for the keys that were issued before, in milliseconds since the epoch; null where not known yet. */
export function dueAt({ since, gracePeriod }: TeamPolicy, rule: RuleName): number | null {
  const from = since[rule];
  return from === undefined ? null : from + gracePeriod;
}
