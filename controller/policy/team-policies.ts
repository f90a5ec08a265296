import {
  byName,
  NO_POLICIES,
  policyForTeam,
  type TeamPolicies,
  type TeamPolicy,
} from "../../domain/key/policies/team-policies.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import type { PlatformKeyPolicyStatus } from "../../domain/kinds/generated/platform-key-policy.ts";
import type { Cluster, DeclaredObject } from "../cluster/port.ts";

/**
 * Returns the policies of a team, by what the cluster shows; none if no team holds the namespace.
 *
 * @param team name of the team; null if no team holds the namespace
 */
export function policiesOf(cluster: Pick<Cluster, "get" | "list" | "uids">, team: string | null): TeamPolicies {
  if (team === null) return NO_POLICIES;
  const readable = cluster.list("PlatformKeyPolicy");
  const known = new Set(readable.map(({ uid }) => uid));
  const labels = cluster.get("PlatformTeam", "", team)?.labels ?? {};
  return {
    policies: readable
      .filter(({ deleting, spec }) => !deleting && selectsTeam(spec.teamSelector, { name: team, labels }))
      .toSorted(byName)
      .map((policy) => teamPolicy(policy, team)),
    unreadable: cluster.uids("PlatformKeyPolicy").filter((uid) => !known.has(uid)),
  };
}

/** Returns a policy as its status has it for one of its teams. */
export function teamPolicy(
  { name, spec, status }: Pick<DeclaredObject<"PlatformKeyPolicy">, "name" | "spec" | "status">,
  team: string,
): TeamPolicy {
  // We write this status.
  const written = status as PlatformKeyPolicyStatus | undefined;
  const selected = written?.teams?.find((one) => one.name === team)?.since;
  return policyForTeam(name, spec, { rules: written?.rules ?? [], selected });
}
