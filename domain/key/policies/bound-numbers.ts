/** Numbers that hold for a key that was issued before its policies' rules came to hold. */
import { UNDECLARED_CONCURRENT } from "../../access/rate-limit.ts";
import { budgetSize } from "../../budget/budget.ts";
import type { DeclaredKey } from "../declaration/declared-key.ts";
import type { StoredKey, StoredVersion } from "../stored/stored-key.ts";
import type { KeptEnd } from "../stored/version-end.ts";
import { boundBudgets, refusingOf, smallestBudgets } from "./bound-budgets.ts";
import { boundLife, currentVersion } from "./bound-life.ts";
import { boundValue, lowest } from "./bounds.ts";
import type { Bounds } from "./declared-policy.ts";
import { policyDefaults, withPolicyDefaults } from "./policy-defaults.ts";
import type { RuleName } from "./rules-in-force.ts";
import { dueAt, type TeamPolicy } from "./team-policies.ts";

type BoundedKey = {
  readonly effective: DeclaredKey;
  /** Defaults that do not hold yet, as sentences. */
  readonly coming: readonly string[];
  readonly keptEnds: readonly KeptEnd[];
  /** The next moment at which time alone makes a rule hold, in milliseconds since the epoch; Infinity for none. */
  readonly nextAt: number;
};

/** Names of numbers for which policies have a default and a maximum. */
type BoundNumber = "requestsPerMinute" | "concurrent" | "tokensPerMinute";

/**
 * Bounds the numbers of an issued key by the policies of its team.
 *
 * @param now milliseconds since the epoch, by the database's clock
 */
export function boundNumbers(
  declared: DeclaredKey,
  stored: StoredKey,
  policies: readonly TeamPolicy[],
  now: number,
): BoundedKey {
  const due = policies.map((policy) => onlyDue(policy, now));
  const { expiresAfter, keptEnds, rotationInterval } = boundLife(declared, stored, policies, now);
  const [given, givenDue] = [policyDefaults(policies), policyDefaults(due)];
  const { rateLimit, concurrent, tokenLimit } = declared;
  const bound = (number: BoundNumber, asked: number | null, has: number | null, undeclared: number | null = null) =>
    boundValue(
      { asked, has, undeclared },
      { given: given[number], max: maxOf(policies.map((policy) => policy[number])) },
      { given: givenDue[number], max: maxOf(due.map((policy) => policy[number])) },
    );
  const rateOf = (part: "requestsPerMinute" | "burst") =>
    bound("requestsPerMinute", rateLimit?.[part] ?? null, stored.policy.rateLimit?.[part] ?? null);
  const [requestsPerMinute, burst] = [rateOf("requestsPerMinute"), rateOf("burst")];
  const calls = bound("concurrent", concurrent, stored.policy.concurrent, UNDECLARED_CONCURRENT);
  const hadTokens = stored.policy.tokenLimit?.tokensPerMinute ?? null;
  const tokensPerMinute = bound("tokensPerMinute", tokenLimit?.tokensPerMinute ?? null, hadTokens);
  const effective: DeclaredKey = {
    ...declared,
    expiresAfter,
    rotationInterval: lowest([rotationInterval, boundInterval({ ...declared, expiresAfter }, stored, due, now)]),
    rateLimit:
      requestsPerMinute === null
        ? null
        : {
            scope: tokenLimit?.scope ?? "Replica",
            ...rateLimit,
            requestsPerMinute,
            burst: burst ?? requestsPerMinute,
          },
    concurrent: concurrent === null && calls === UNDECLARED_CONCURRENT ? null : calls,
    tokenLimit:
      tokensPerMinute === null ? null : { scope: rateLimit?.scope ?? "Replica", ...tokenLimit, tokensPerMinute },
    budgets: boundBudgets({ asked: declared.budgets, has: stored.policy.budgets }, policies, due),
  };
  const dates = policies.flatMap((policy) => [...NUMBER_RULES].map((rule) => dueAt(policy, rule) ?? Number.NaN));
  return {
    ...{ effective, keptEnds },
    coming: comingDefaults(declared, effective, policies, isLifeComing(declared, stored, policies, now)),
    nextAt: Math.min(...dates.filter((at) => at > now), Number.POSITIVE_INFINITY),
  };
}

/** Returns the life of a version by its own expiry, in milliseconds; null without an expiry. */
export function lifeOfVersion(version: StoredVersion | undefined): number | null {
  return version === undefined || version.expiresAt === null ? null : version.expiresAt - version.mintedAt;
}

/** Returns the interval by which rotations come, in milliseconds. A key whose versions end sooner needs no rotation. */
function boundInterval(
  { expiresAfter, expiresAt, rotationInterval }: DeclaredKey,
  stored: StoredKey,
  policies: readonly TeamPolicy[],
  now: number,
): number | null {
  const longest = lowest(policies.map(({ maxInterval }) => maxInterval));
  const bornAt = currentVersion(stored)?.mintedAt ?? now;
  const life = lowest([expiresAfter, expiresAt === null ? null : expiresAt - bornAt]);
  const isShort = longest === null || (life !== null && life <= longest);
  return isShort ? rotationInterval : lowest([rotationInterval, longest]);
}

const maxOf = (bounds: readonly Bounds[]): number | null => lowest(bounds.map(({ max }) => max));

/** Rules about numbers: a violation of these is put right by another number than the declared one. */
export const NUMBER_RULES: ReadonlySet<RuleName> = new Set<RuleName>([
  "expiry.default",
  "expiry.max",
  "rotation.maxInterval",
  "rateLimit.requestsPerMinute.default",
  "rateLimit.requestsPerMinute.max",
  "rateLimit.concurrent.default",
  "rateLimit.concurrent.max",
  "rateLimit.tokensPerMinute.default",
  "rateLimit.tokensPerMinute.max",
  "budgets",
]);

/** Returns a policy without the numbers that do not hold yet of a key that was issued before. */
function onlyDue(policy: TeamPolicy, now: number): TeamPolicy {
  const held = (rule: RuleName, value: number | null) =>
    (dueAt(policy, rule) ?? Number.POSITIVE_INFINITY) <= now ? value : null;
  const heldBounds = (rule: `rateLimit.${BoundNumber}`, bounds: Bounds): Bounds => ({
    default: held(`${rule}.default`, bounds.default),
    max: held(`${rule}.max`, bounds.max),
  });
  return {
    ...policy,
    maxInterval: held("rotation.maxInterval", policy.maxInterval),
    requestsPerMinute: heldBounds("rateLimit.requestsPerMinute", policy.requestsPerMinute),
    concurrent: heldBounds("rateLimit.concurrent", policy.concurrent),
    tokensPerMinute: heldBounds("rateLimit.tokensPerMinute", policy.tokensPerMinute),
    budgets: (dueAt(policy, "budgets") ?? Number.POSITIVE_INFINITY) <= now ? policy.budgets : [],
  };
}

/** True if a default will give an expiry, which does not hold yet, to a version that is older than the rule. */
function isLifeComing(
  { expiresAfter, expiresAt }: DeclaredKey,
  stored: StoredKey,
  policies: readonly TeamPolicy[],
  now: number,
): boolean {
  const bornAt = currentVersion(stored)?.mintedAt ?? now;
  const isComing = (policy: TeamPolicy) =>
    (dueAt(policy, "expiry.default") ?? Number.POSITIVE_INFINITY) > now &&
    (policy.since["expiry.default"] ?? Number.POSITIVE_INFINITY) > bornAt;
  const given = policies.filter(({ expiry }) => expiry.default !== null);
  return expiresAfter === null && expiresAt === null && given.some(isComing);
}

function comingDefaults(
  declared: DeclaredKey,
  effective: DeclaredKey,
  policies: readonly TeamPolicy[],
  isEndComing: boolean,
): string[] {
  const given = withPolicyDefaults(declared, policies);
  const isComing = <F extends "rateLimit" | "concurrent" | "tokenLimit">(field: F) =>
    declared[field] === null && given[field] !== null && effective[field] === null;
  return [
    ...(isEndComing
      ? ["spec.expiresAfter: none is declared, and the default comes to hold, counted from the mint of each version."]
      : []),
    ...(isComing("rateLimit")
      ? [`spec.rateLimit: none is declared, and ${given.rateLimit?.requestsPerMinute} requests a minute come to hold.`]
      : []),
    ...(isComing("concurrent")
      ? [`spec.rateLimit.concurrent: none is declared, and ${given.concurrent} come to hold.`]
      : []),
    ...(isComing("tokenLimit")
      ? [
          `spec.rateLimit.tokensPerMinute: none is declared, and ${given.tokenLimit?.tokensPerMinute} tokens a minute come to hold.`,
        ]
      : []),
    ...smallestBudgets(policies)
      .filter((budget) => refusingOf(effective.budgets, budget) === undefined)
      .map((budget) => `spec.budgets: none is declared of that kind, and ${budgetSize(budget)} come to hold.`),
  ];
}
