import type { PlatformKeyPolicySpec } from "../../kinds/generated/platform-key-policy.ts";
import { type DeclaredPolicy, declarePolicy } from "./declared-policy.ts";
import { type RuleInForce, type RuleName, ruleDigest, rulesOf } from "./rules-in-force.ts";

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

/** The order of policies: of two that ask for as much it decides which one's time zone holds, wherever they were found. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** When a rule holds for the keys that were issued before, in milliseconds since the epoch; null where not known yet. */
export function dueAt({ since, gracePeriod }: TeamPolicy, rule: RuleName): number | null {
  const from = since[rule];
  return from === undefined ? null : from + gracePeriod;
}

/** What has been noted of a policy: since when each of its rules holds, and since when it is for a team. RFC 3339. */
export type NotedTimes = { readonly rules: readonly RuleInForce[]; readonly selected: string | undefined };

/**
 * A policy as it holds for one of its teams. A rule is in force from when both it and the team are noted: before that no
 * grace period runs. One that an edit leaves as it is, is there already.
 */
export function policyForTeam(name: string, spec: PlatformKeyPolicySpec, { rules, selected }: NotedTimes): TeamPolicy {
  const since = [...rulesOf(spec)].flatMap(([rule, says]): [RuleName, number][] => {
    const value = ruleDigest(says);
    const inForce = rules.find((one) => one.rule === rule && one.value === value)?.since;
    if (selected === undefined || inForce === undefined) return [];
    return [[rule, Math.max(Date.parse(inForce), Date.parse(selected))]];
  });
  return { ...declarePolicy(name, spec), since: Object.fromEntries(since) };
}
