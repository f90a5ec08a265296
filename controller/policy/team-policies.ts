import {
  byName,
  NO_POLICIES,
  policyForTeam,
  type TeamPolicies,
  type TeamPolicy,
  unreadablePolicy,
  unseenPolicy,
} from "../../domain/key/policies/team-policies.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import type { PlatformKeyPolicyStatus } from "../../domain/kinds/generated/platform-key-policy.ts";
import type { DeclaredRows } from "../../store/keys/rows/declared-key.ts";
import type { Cluster, DeclaredObject } from "../cluster/port.ts";

/** Returns the uids of the policies that the cluster shows, with those that cannot be read. */
export function seenPolicies(cluster: Pick<Cluster, "list" | "uids">): string[] {
  const readable = cluster.list("PlatformKeyPolicy").map(({ uid }) => uid);
  return [...new Set([...readable, ...cluster.uids("PlatformKeyPolicy")])];
}

/**
 * Returns the policies of the team that holds a namespace, as the cluster has them; none without a team. The team's
 * stored labels count if the cluster shows no team that can be read. A stored policy that the cluster does not show
 * counts as unreadable (threats c107).
 */
export function policiesOf(
  cluster: Pick<Cluster, "get" | "list" | "uids">,
  { team, unseenPolicies }: Pick<DeclaredRows, "team" | "unseenPolicies">,
): TeamPolicies {
  if (team === undefined) return NO_POLICIES;
  const readable = cluster.list("PlatformKeyPolicy");
  const known = new Set(readable.map(({ uid }) => uid));
  const seen = new Set(seenPolicies(cluster));
  const labels = cluster.get("PlatformTeam", "", team.name)?.labels ?? team.labels;
  const selectable = { name: team.name, labels };
  const unseen = unseenPolicies.filter(
    ({ uid, spec }) => !seen.has(uid) && (spec === undefined || selectsTeam(spec.teamSelector, selectable)),
  );
  return {
    policies: readable
      .filter(({ deleting, spec }) => !deleting && selectsTeam(spec.teamSelector, selectable))
      .toSorted(byName)
      .map((policy) => teamPolicy(policy, team.name)),
    unreadable: [
      ...cluster
        .uids("PlatformKeyPolicy")
        .filter((uid) => !known.has(uid))
        .map(unreadablePolicy),
      ...unseen.map(unseenPolicy),
    ],
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
