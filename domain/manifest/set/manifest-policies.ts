import { declarePolicy } from "../../key/policies/declared-policy.ts";
import { type RuleName, rulesOf } from "../../key/policies/rules-in-force.ts";
import { byName, NO_POLICIES, type TeamPolicies } from "../../key/policies/team-policies.ts";
import { selectsTeam } from "../../key/policies/team-selector.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "./manifest-world.ts";

/** Returns when a rule of a policy came to hold for a team, in milliseconds since the epoch. */
export type RuleSince = (policy: WorldObject<"PlatformKeyPolicy">, rule: RuleName, team: string) => number;

/** Returns the policies of a team among declarations; none if there is no team. */
export function policiesIn(world: ManifestWorld, team: string | null, since: RuleSince): TeamPolicies {
  if (team === null) return NO_POLICIES;
  const labels = world.find("PlatformTeam", { namespace: "", name: team })?.labels ?? {};
  const policies = world.objects
    .filter((object) => isOfKind(object, "PlatformKeyPolicy"))
    .filter(({ spec }) => selectsTeam(spec.teamSelector, { name: team, labels }))
    .toSorted(byName);
  return {
    policies: policies.map((policy) => ({
      ...declarePolicy(policy.name, policy.spec),
      since: Object.fromEntries([...rulesOf(policy.spec).keys()].map((rule) => [rule, since(policy, rule, team)])),
    })),
    unreadable: [],
  };
}
