import { declareKey } from "../../key/fields/declare-key.ts";
import { judgeKey } from "../../key/policies/judge-key.ts";
import { withPolicyDefaults } from "../../key/policies/policy-defaults.ts";
import { selectsTeam } from "../../key/policies/team-selector.ts";
import type { Path } from "../document/diagnostic.ts";
import { policiesIn } from "./manifest-policies.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "./manifest-world.ts";

type PolicyWarning = { readonly path: Path; readonly message: string };

/**
 * Returns warnings about policies and keys that are declared together: a policy that selects none of the teams, and the
 * violations of a key against its team's policies. A new key with violations is not issued; an issued key goes on for a
 * grace period.
 *
 * @param now milliseconds since the epoch
 */
export function policyWarnings(object: WorldObject, world: ManifestWorld, now: number): PolicyWarning[] {
  if (isOfKind(object, "PlatformKeyPolicy")) return selectorWarnings(object, world);
  if (!isOfKind(object, "PlatformKey") || object.spec.state === "Revoked") return [];
  const { policies } = policiesIn(world, world.teamOf(object.namespace), () => now);
  if (policies.length === 0) return [];
  const declared = withPolicyDefaults(declareKey(object.namespace, object.name, object.spec), policies);
  return judgeKey(declared, policies, { bornAt: now, now, keysBefore: world.keysBefore(object) }).map(
    ({ policy, field, message }) => ({
      path: field.split("."),
      message: `${message}; PlatformKeyPolicy ${policy} asks for it, and a new key that breaks it is not issued`,
    }),
  );
}

/** Warns of a policy that selects no team, unless no team is among the manifests: teams may be declared elsewhere. */
function selectorWarnings({ spec }: WorldObject<"PlatformKeyPolicy">, world: ManifestWorld): PolicyWarning[] {
  const teams = world.objects.filter((object) => isOfKind(object, "PlatformTeam"));
  const isForOne = teams.some(({ name, labels = {} }) => selectsTeam(spec.teamSelector, { name, labels }));
  if (teams.length === 0 || isForOne) return [];
  const message =
    "matches no PlatformTeam among these manifests: correct it, or name the folder that has its team with --filename too";
  return [{ path: ["spec", "teamSelector"], message }];
}
