import { createHash } from "node:crypto";
import { areBudgetsKept, declareBudgets } from "../../budget/budget.ts";
import { parseDuration } from "../../duration.ts";
import type { PlatformKeyPolicySpec } from "../../kinds/generated/platform-key-policy.ts";

/** The rules that a policy may have, by their fields. */
export const RULE_NAMES = [
  "expiry.required",
  "expiry.default",
  "expiry.max",
  "rotation.maxInterval",
  "allowedScopes",
  "allowedPresets",
  "allowedModels",
  "allowedGateways",
  "allowedCIDRs",
  "maxKeys",
  "rateLimit.requestsPerMinute.default",
  "rateLimit.requestsPerMinute.max",
  "rateLimit.concurrent.default",
  "rateLimit.concurrent.max",
  "rateLimit.tokensPerMinute.default",
  "rateLimit.tokensPerMinute.max",
  "budgets",
] as const;

export type RuleName = (typeof RULE_NAMES)[number];

/** What a policy asks by one rule, and since when. */
export type RuleInForce = { readonly rule: string; readonly value: string; readonly since: string };

/** What each rule of a spec says; rules that it does not have are left out. */
export function rulesOf(spec: PlatformKeyPolicySpec): ReadonlyMap<RuleName, unknown> {
  const { expiry, rotation, rateLimit } = spec;
  const all: readonly (readonly [RuleName, unknown])[] = [
    // False asks for nothing.
    ["expiry.required", expiry?.required || undefined],
    ["expiry.default", expiry?.default],
    ["expiry.max", expiry?.max],
    ["rotation.maxInterval", rotation?.maxInterval],
    ["allowedScopes", spec.allowedScopes],
    ["allowedPresets", spec.allowedPresets],
    ["allowedModels", spec.allowedModels],
    ["allowedGateways", spec.allowedGateways],
    ["allowedCIDRs", spec.allowedCIDRs],
    ["maxKeys", spec.maxKeys],
    ["rateLimit.requestsPerMinute.default", rateLimit?.requestsPerMinute?.default],
    ["rateLimit.requestsPerMinute.max", rateLimit?.requestsPerMinute?.max],
    ["rateLimit.concurrent.default", rateLimit?.concurrent?.default],
    ["rateLimit.concurrent.max", rateLimit?.concurrent?.max],
    ["rateLimit.tokensPerMinute.default", rateLimit?.tokensPerMinute?.default],
    ["rateLimit.tokensPerMinute.max", rateLimit?.tokensPerMinute?.max],
    ["budgets", spec.budgets],
  ];
  return new Map(all.filter(([, value]) => value !== undefined));
}

/**
 * The rules of a spec with the times since when they are as they are: one that was the same before keeps its own, and so
 * does one that lets through all that it did, since what breaks it broke it then.
 *
 * @param now RFC 3339
 * @param previous the spec that the rules before are of; undefined where it is not known
 */
export function rulesInForce(
  spec: PlatformKeyPolicySpec,
  before: readonly RuleInForce[],
  now: string,
  previous?: PlatformKeyPolicySpec,
): RuleInForce[] {
  const said = previous === undefined ? new Map<RuleName, unknown>() : rulesOf(previous);
  const hasLooserBudgets = areBudgetsKept(declareBudgets(previous?.budgets), declareBudgets(spec.budgets));
  return [...rulesOf(spec)].map(([rule, says]) => {
    const value = ruleDigest(says);
    const was = said.get(rule);
    const isKept = (digest: string) =>
      digest === value ||
      (was !== undefined &&
        digest === ruleDigest(was) &&
        (rule === "budgets" ? hasLooserBudgets : isLooser(says, was)));
    const kept = before.find((one) => one.rule === rule && isKept(one.value));
    return { rule, value, since: kept?.since ?? now };
  });
}

/** Whether a rule lets through all that it did as it was: a longer list or duration, or a higher number. */
function isLooser(says: unknown, was: unknown): boolean {
  if (Array.isArray(says) && Array.isArray(was)) {
    const entries = new Set(says.map(canonical));
    return was.every((entry) => entries.has(canonical(entry)));
  }
  if (typeof says === "string" && typeof was === "string") return parseDuration(says) >= parseDuration(was);
  return typeof says === "number" && typeof was === "number" && says >= was;
}

/** What a rule says, as a short digest: of a list in any order the same. */
export function ruleDigest(says: unknown): string {
  return createHash("sha256").update(canonical(says)).digest("hex").slice(0, 16);
}

/** The lists of rules are sets, and their objects are flat. */
function canonical(says: unknown): string {
  if (Array.isArray(says)) return JSON.stringify(says.map(canonical).sort());
  const isObject = typeof says === "object" && says !== null;
  return JSON.stringify(isObject ? Object.entries(says).toSorted(([a], [b]) => (a < b ? -1 : 1)) : says);
}
