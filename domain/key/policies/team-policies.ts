import type { PlatformKeyPolicySpec } from "../../kinds/generated/platform-key-policy.ts";
import { type DeclaredPolicy, declarePolicy } from "./declared-policy.ts";
import { type RuleInForce, type RuleName, ruleDigest, rulesOf } from "./rules-in-force.ts";

/** Policy of a key's team, with the times since which its rules hold for that team; without a time if not yet known. */
export type TeamPolicy = DeclaredPolicy & { readonly since: Readonly<Partial<Record<RuleName, number>>> };

/** Policies that select a key's team. */
export type TeamPolicies = {
  readonly policies: readonly TeamPolicy[];
  /** Policies that may select the team and whose rules are not known, each as a sentence that says what to do. */
  readonly unreadable: readonly string[];
};

/** Formats the sentence for a policy that this version cannot read. */
export function unreadablePolicy(uid: string): string {
  return `A PlatformKeyPolicy cannot be read (uid ${uid}): correct it as its status says, delete it, or run a newer version.`;
}

/** Formats the sentence for a stored policy that the cluster does not show, though nothing has said that it is gone. */
export function unseenPolicy({ uid, name }: { readonly uid: string; readonly name: string }): string {
  const which = name === "" ? `a PlatformKeyPolicy (uid ${uid})` : `PlatformKeyPolicy ${name}`;
  return `The cluster does not show ${which}, which is stored: have it serve PlatformKeyPolicies, or forget all of them with keyplane forget-policies and the uid of the namespace kube-system.`;
}

/** Empty set of policies. */
export const NO_POLICIES: TeamPolicies = { policies: [], unreadable: [] };

/** Compares policies by name: among equal demands the order decides whose time zone holds, wherever they were found. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** Returns when a rule holds for keys issued before it, in milliseconds since the epoch; null if not known yet. */
export function dueAt({ since, gracePeriod }: TeamPolicy, rule: RuleName): number | null {
  const from = since[rule];
  return from === undefined ? null : from + gracePeriod;
}

/** Recorded times of a policy: since when each rule holds, and since when the policy selects a team. RFC 3339. */
export type NotedTimes = { readonly rules: readonly RuleInForce[]; readonly selected: string | undefined };

/**
 * Returns a policy as it holds for one of its teams. A rule is in force once both the rule and the team are recorded:
 * no grace period runs before that. A rule that an edit leaves as it is keeps its time.
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
