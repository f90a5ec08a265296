import { declarePolicy } from "../key/policies/declared-policy.ts";
import { type RuleName, rulesOf } from "../key/policies/rules-in-force.ts";
import { byName, NO_POLICIES, type TeamPolicies } from "../key/policies/team-policies.ts";
import { selectsTeam } from "../key/policies/team-selector.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "./manifest-world.ts";

/** Since when a rule of a policy holds for a team, in milliseconds since the epoch. */
export type RuleSince = (policy: WorldObject<"PlatformKeyPolicy">, rule: RuleName, team: string) => number;

/** The policies of a team among declarations; none of what no team holds. */
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

/** How many keys of its team come before a key: those that were there before, or else those with an earlier name. */
export function keysBeforeIn(world: ManifestWorld, key: WorldObject<"PlatformKey">): number {
  const team = world.teamOf(key.namespace);
  const placeOf = ({ createdAt, namespace, name }: WorldObject): readonly [number, string] => [
    createdAt ?? Number.POSITIVE_INFINITY,
    `${namespace}/${name}`,
  ];
  const [at, title] = placeOf(key);
  return world.objects.filter((object) => {
    if (!isOfKind(object, "PlatformKey") || object.spec.state === "Revoked") return false;
    const [otherAt, otherTitle] = placeOf(object);
    const isBefore = otherAt < at || (otherAt === at && otherTitle < title);
    return isBefore && world.teamOf(object.namespace) === team;
  }).length;
}
