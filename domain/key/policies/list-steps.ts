/** Instructions for a list that policies bound: values to write that no policy refuses. */
import { PRESETS, type Preset, SCOPES, type Scope } from "../../access/scopes.ts";
import { isNetworkWithin } from "../../access/source-addresses.ts";
import { nameSome } from "../../name-some.ts";
import type { NamedRef } from "../declaration/declared-key.ts";
import type { DeclaredPolicy } from "./declared-policy.ts";

/** Maximum number of list items that a message names. */
export const MAX_NAMED = 5;

type Policies = readonly DeclaredPolicy[];

/** A rule that lists what a key may have. */
type ListRule = "allowedScopes" | "allowedPresets" | "allowedModels" | "allowedGateways" | "allowedCIDRs";

/** Tells which scopes to write. */
export function scopesStep(policies: Policies): string {
  return stepOf(policies, SCOPE_RULES, commonScopes(policies), (all) => `write none but ${all.join(", ")}`);
}

/** Tells which of some presets to write, or which scopes if other policies allow only a part of each preset. */
export function presetStep(policies: Policies, presets: readonly Preset[]): string {
  const common = commonScopes(policies);
  const options = presets.flatMap((preset) => {
    const scopes = PRESETS[preset].filter((scope) => common.includes(scope));
    if (scopes.length === 0 || !policies.every((policy) => letsScopes(policy, scopes))) return [];
    return scopes.length === PRESETS[preset].length ? `preset: ${preset}` : `scopes: [${scopes.join(", ")}]`;
  });
  return stepOf(
    policies,
    SCOPE_RULES,
    options,
    (all) => `write ${all.join(" or ").replaceAll(" or preset: ", " or ")}`,
  );
}

/** Tells which models to write. */
export function modelsStep(policies: Policies): string {
  const models = common(policies.map(({ allowedModels }) => allowedModels));
  return stepOf(policies, ["allowedModels"], models, (all) => `write none but ${nameSome(all, MAX_NAMED)}`);
}

/** Tells which gateway to bind the key to. */
export function gatewayStep(policies: Policies): string {
  const gateways = common(policies.map(({ allowedGateways }) => allowedGateways?.map(gatewayText) ?? null));
  return stepOf(policies, ["allowedGateways"], gateways, (all) => `bind it to ${nameSome(all, MAX_NAMED)}`);
}

/** Tells which networks to write. */
export function networksStep(policies: Policies): string {
  const lists = policies.flatMap(({ allowedCIDRs }) => (allowedCIDRs === null ? [] : [allowedCIDRs]));
  const networks = [...new Set(lists.flat())].filter((one) => lists.every((list) => isNetworkWithin(one, list)));
  return stepOf(policies, ["allowedCIDRs"], networks, (all) => `write networks within ${nameSome(all, MAX_NAMED)}`);
}

/** Formats a gateway as messages name it. */
export function gatewayText({ namespace, name }: NamedRef): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** Rules that bound scopes: a preset is a list of scopes. */
const SCOPE_RULES: readonly ListRule[] = ["allowedScopes", "allowedPresets"];

/** Tells what to write, or whom to ask if no key can meet all the policies that have any of these rules. */
function stepOf(
  policies: Policies,
  rules: readonly ListRule[],
  options: readonly string[],
  write: (options: readonly string[]) => string,
): string {
  if (options.length > 0) return write(options);
  const asking = policies.filter((policy) => rules.some((rule) => policy[rule] !== null)).map(({ name }) => name);
  return `nothing meets PlatformKeyPolicies ${nameSome(asking, MAX_NAMED)} together, so have the platform change one of them`;
}

/** Returns the scopes that no policy refuses, each judged by itself. */
function commonScopes(policies: Policies): Scope[] {
  return SCOPES.filter((scope) => policies.every((policy) => letsScopes(policy, [scope])));
}

function letsScopes({ allowedScopes, allowedPresets }: DeclaredPolicy, scopes: readonly Scope[]): boolean {
  const isWithin = (list: readonly Scope[]) => scopes.every((scope) => list.includes(scope));
  return (
    (allowedScopes === null || isWithin(allowedScopes)) &&
    (allowedPresets === null || allowedPresets.some((preset) => isWithin(PRESETS[preset])))
  );
}

/** Returns the items that are in every list; null lists are ignored. */
function common(lists: readonly (readonly string[] | null)[]): readonly string[] {
  const [first = [], ...others] = lists.filter((list) => list !== null);
  return first.filter((one) => others.every((list) => list.includes(one)));
}
