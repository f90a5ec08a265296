/** Instructions for a list that policies bound: values to write that no policy refuses. */
import { PRESETS, type Preset, SCOPES, type Scope } from "../../access/scopes.ts";
import { nameSome } from "../../name-some.ts";
import type { NamedRef } from "../declaration/declared-key.ts";
import { isAmong } from "../fields/field-values.ts";
import type { DeclaredPolicy } from "./declared-policy.ts";

/** Maximum number of list items that a message names. */
export const MAX_NAMED = 5;

type Policies = readonly DeclaredPolicy[];

/** A rule that lists what a key may have. */
type ListRule = Extract<keyof DeclaredPolicy, `allowed${string}`>;

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

/**
 * Tells which items of a list to write.
 *
 * @param write the instruction before the items
 * @param isWithin tells whether a policy's list lets an item through
 */
export function listStep(
  policies: Policies,
  rule: Exclude<ListRule, "allowedGateways">,
  write: string,
  isWithin: (item: string, list: readonly string[]) => boolean = isAmong,
): string {
  const lists: readonly (readonly string[])[] = policies.map((policy) => policy[rule]).filter((list) => list !== null);
  const items = [...new Set(lists.flat())].filter((item) => lists.every((list) => isWithin(item, list)));
  return stepOf(policies, [rule], items, (all) => `${write} ${nameSome(all, MAX_NAMED)}`);
}

/** Tells which gateway to bind the key to. */
export function gatewayStep(policies: Policies): string {
  const lists = policies.map(({ allowedGateways }) => allowedGateways).filter((list) => list !== null);
  const [first = [], ...others] = lists.map((list) => list.map(gatewayText));
  const gateways = first.filter((one) => others.every((list) => list.includes(one)));
  return stepOf(policies, ["allowedGateways"], gateways, (all) => `bind it to ${nameSome(all, MAX_NAMED)}`);
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
