/** Policies as a plan applies them to a key. */
import type { DeclaredKey, NamedRef } from "../../domain/key/declaration/declared-key.ts";
import type { ResolvedReferences } from "../../domain/key/declaration/resolved-references.ts";
import { declareDelivery } from "../../domain/key/fields/declare-key.ts";
import { type HoldResult, holdToPolicies } from "../../domain/key/policies/hold-to-policies.ts";
import { rulesInForce } from "../../domain/key/policies/rules-in-force.ts";
import type { StoredKey } from "../../domain/key/stored/stored-key.ts";
import type { Spec } from "../../domain/kinds/kinds.ts";
import { policiesIn, type RuleSince } from "../../domain/manifest/set/manifest-policies.ts";
import type { ManifestWorld, WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import type { StatusObject } from "../data/status-files.ts";

/** Policy as it is held now. */
export type HeldPolicy = StatusObject<"PlatformKeyPolicy">;

/** Returns a look-up of the time from which each rule would hold, if the manifests were applied now. */
export function ruleSince(held: (name: string) => HeldPolicy | undefined, now: number): RuleSince {
  return ({ name, spec }, rule, team) => {
    const { spec: previous, status } = held(name) ?? {};
    const rules = rulesInForce(spec, status?.rules ?? [], rfc3339(now), previous);
    const since = rules.find((one) => one.rule === rule)?.since;
    const selected = status?.teams?.find((one) => one.name === team)?.since;
    return Math.max(...[since, selected].map((at) => (at === undefined ? now : Date.parse(at))));
  };
}

/**
 * Applies the policies of its team to a declared key, in simulation.
 *
 * @param key the key, with its present spec; undefined for a new one
 */
export function holdPlanned(
  key: {
    readonly named: WorldObject<"PlatformKey"> | undefined;
    readonly namespace: string;
    readonly spec: Spec<"PlatformKey"> | undefined;
  },
  declared: DeclaredKey,
  row: StoredKey | undefined,
  references: ResolvedReferences,
  { after, since, now }: { readonly after: ManifestWorld; readonly since: RuleSince; readonly now: number },
): HoldResult {
  const stored = row?.revocation?.reason === "Moved" ? undefined : row;
  return holdToPolicies({
    ...{ declared, stored, now, team: policiesIn(after, after.teamOf(key.namespace), since) },
    isApplied: false,
    // Whatever its interval asked for until now is done.
    applied: { ...declared, ...(key.spec && declareDelivery(declared.secret.name, key.spec)), interval: null },
    boundTo: boundGateway(stored?.policy.boundGatewayId ?? null, declared, references),
    keysBefore: key.named === undefined ? null : after.keysBefore(key.named),
  });
}

/** Returns the gateway that a key is bound to. In a plan, its id is its name. */
function boundGateway(
  bound: string | null,
  { gatewayRef }: DeclaredKey,
  { gatewayId }: ResolvedReferences,
): NamedRef | null {
  if (bound === null || bound === gatewayId) return gatewayRef;
  const [namespace = "", name = ""] = bound.split("/");
  return { namespace, name };
}
