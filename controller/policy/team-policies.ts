import { declarePolicy } from "../../domain/key/policies/declared-policy.ts";
import { type RuleName, rulesOf } from "../../domain/key/policies/rules-in-force.ts";
import { NO_POLICIES, type TeamPolicies, type TeamPolicy } from "../../domain/key/policies/team-policies.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import type { PlatformKeyPolicyStatus } from "../../domain/kinds/generated/platform-key-policy.ts";
import type { Cluster, DeclaredObject } from "../cluster/port.ts";

/** The policies of a team, by what the cluster shows; none of what no team holds. @param team its name */
export function policiesOf(cluster: Pick<Cluster, "get" | "list" | "uids">, team: string | null): TeamPolicies {
  if (team === null) return NO_POLICIES;
  const policies = cluster.list("PlatformKeyPolicy").filter(({ deleting }) => !deleting);
  const known = new Set(cluster.list("PlatformKeyPolicy").map(({ uid }) => uid));
  const labels = cluster.get("PlatformTeam", "", team)?.labels ?? {};
  return {
    policies: policies
      .filter(({ spec }) => selectsTeam(spec.teamSelector, { name: team, labels }))
      .map((policy) => teamPolicy(policy, team)),
    unreadable: cluster.uids("PlatformKeyPolicy").filter((uid) => !known.has(uid)),
  };
}

/** A rule is in force from when both it and its team are in the policy's status: before that no grace period runs. */
function teamPolicy({ name, spec, status, generation }: DeclaredObject<"PlatformKeyPolicy">, team: string): TeamPolicy {
  // What is written there is ours.
  const written = status as PlatformKeyPolicyStatus | undefined;
  const selected = written?.teams?.find((one) => one.name === team)?.since;
  const isCurrent = written?.observedGeneration === generation && selected !== undefined;
  const since = isCurrent ? [...rulesOf(spec).keys()].flatMap((rule) => sinceOf(rule, written, selected)) : [];
  return { ...declarePolicy(name, spec), since: Object.fromEntries(since) };
}

function sinceOf(rule: RuleName, { rules = [] }: PlatformKeyPolicyStatus, selected: string): [RuleName, number][] {
  const since = rules.find((one) => one.rule === rule)?.since;
  return since === undefined ? [] : [[rule, Math.max(Date.parse(since), Date.parse(selected))]];
}
