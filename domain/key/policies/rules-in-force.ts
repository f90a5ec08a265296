import { createHash } from "node:crypto";
import { areBudgetsKept, declareBudgets } from "../../budget/budget.ts";
import { parseDuration } from "../../duration.ts";
import type { PlatformKeyPolicySpec } from "../../kinds/generated/platform-key-policy.ts";

/** Paths of the fields of a type that hold a value or a list, such as `expiry.max`. */
type ValuePath<T> = {
  [F in keyof T & string]-?: T[F] extends readonly unknown[] | string | number | boolean | undefined
    ? F
    : `${F}.${ValuePath<NonNullable<T[F]>>}`;
}[keyof T & string];

/** Names of the rules that a policy may have: the paths of their fields. */
const RULE_NAMES = [
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
] as const satisfies readonly ValuePath<PlatformKeyPolicySpec>[];

export type RuleName = (typeof RULE_NAMES)[number];

/** A rule of a policy, as the digest of its value, and the time since which it holds. */
export type RuleInForce = { readonly rule: string; readonly value: string; readonly since: string };

/** Returns the values of a spec's rules by name; rules that the spec does not set are left out. */
export function rulesOf(spec: PlatformKeyPolicySpec): ReadonlyMap<RuleName, unknown> {
  const all = RULE_NAMES.map((name) => [name, valueAt(spec, name)] as const);
  // False asks for nothing.
  return new Map(all.filter(([, value]) => value !== undefined && value !== false));
}

function valueAt(spec: PlatformKeyPolicySpec, path: RuleName): unknown {
  return path.split(".").reduce<unknown>((at, field) => Object(at)[field], spec);
}

/**
 * Returns the rules of a spec, each with the time since which it holds. An unchanged rule keeps its time. So does a
 * rule
 * that allows everything that it allowed before, because what breaks it broke it then.
 *
 * @param now RFC 3339
 * @param previous spec of the rules `before`; undefined if it is not known
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

/**
 * Returns the rules of a policy's status, and those that were stored with the time of one of them: each goes on from
 * that rule, though the status that says so could not be written.
 */
export function rulesOnRecord(status: readonly RuleInForce[], stored: readonly RuleInForce[]): RuleInForce[] {
  const goesOn = ({ rule, since }: RuleInForce) => status.some((one) => one.rule === rule && one.since === since);
  return [...status, ...stored.filter(goesOn)];
}

/** True if a rule allows everything that it allowed before: a longer list or duration, or a higher number. */
function isLooser(says: unknown, was: unknown): boolean {
  if (Array.isArray(says) && Array.isArray(was)) {
    const entries = new Set(says.map(canonical));
    return was.every((entry) => entries.has(canonical(entry)));
  }
  if (typeof says === "string" && typeof was === "string") return parseDuration(says) >= parseDuration(was);
  return typeof says === "number" && typeof was === "number" && says >= was;
}

/** Returns a short digest of a rule's value; for a list the order does not matter. */
export function ruleDigest(says: unknown): string {
  return createHash("sha256").update(canonical(says)).digest("hex").slice(0, 16);
}

/** Serialises a rule's value in one order: lists of rules are sets, and their objects are flat. */
function canonical(says: unknown): string {
  if (Array.isArray(says)) return JSON.stringify(says.map(canonical).sort());
  const isObject = typeof says === "object" && says !== null;
  return JSON.stringify(isObject ? Object.entries(says).toSorted(([a], [b]) => (a < b ? -1 : 1)) : says);
}
