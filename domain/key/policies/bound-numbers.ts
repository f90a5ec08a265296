/** The numbers that hold of a key that was issued before its policies' rules came to hold. */
import type { DeclaredKey } from "../declared-key.ts";
import type { StoredKey } from "../stored-key.ts";
import type { KeptEnd } from "../version-end.ts";
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

/** @param now milliseconds since the epoch, by the database's clock */
export function boundNumbers(
  declared: DeclaredKey,
  stored: StoredKey,
  policies: readonly TeamPolicy[],
  now: number,
): BoundedKey {
  const defaults = policyDefaults(policies);
  const isDue = (...rules: readonly RuleName[]) =>
    policies.every((policy) => rules.every((rule) => !asks(policy, rule) || (dueAt(policy, rule) ?? Infinity) <= now));
  const { expiresAfter, keptEnds, rotationInterval } = boundLife(declared, stored, policies, now);
  const { rateLimit, concurrent } = declared;
  const isRateDue = isDue("rateLimit.requestsPerMinute.default", "rateLimit.requestsPerMinute.max");
  const max = maxOf(policies.map(({ requestsPerMinute }) => requestsPerMinute));
  const rateOf = (part: "requestsPerMinute" | "burst") =>
    boundValue(
      {
        asked: rateLimit?.[part] ?? null,
        given: defaults.requestsPerMinute,
        max,
        has: stored.policy.rateLimit?.[part] ?? null,
      },
      isRateDue,
    );
  const [requestsPerMinute, burst] = [rateOf("requestsPerMinute"), rateOf("burst")];
  const effective: DeclaredKey = {
    ...declared,
    expiresAfter,
    rotationInterval: lowest([
      rotationInterval,
      isDue("rotation.maxInterval")
        ? boundInterval({ ...declared, expiresAfter }, stored, policies, now)
        : declared.rotationInterval,
    ]),
    rateLimit:
      requestsPerMinute === null
        ? null
        : {
            scope: declared.tokenLimit?.scope ?? "Replica",
            ...rateLimit,
            requestsPerMinute,
            burst: burst ?? requestsPerMinute,
          },
    concurrent: boundValue(
      {
        asked: concurrent,
        given: defaults.concurrent,
        max: maxOf(policies.map((policy) => policy.concurrent)),
        has: stored.policy.concurrent,
      },
      isDue("rateLimit.concurrent.default", "rateLimit.concurrent.max"),
    ),
  };
  const dates = policies.flatMap((policy) => Object.values(policy.since).map((since) => since + policy.gracePeriod));
  return {
    ...{ effective, keptEnds },
    coming: comingDefaults(declared, effective, policies, isLifeComing(declared, stored, policies, now)),
    nextAt: Math.min(...dates.filter((at) => at > now), Number.POSITIVE_INFINITY),
  };
}

/** How long the key's version lives by its own end, in milliseconds; null without one. */
export function lifeOfVersion(stored: StoredKey): number | null {
  const version = currentVersion(stored);
  return version === undefined || version.expiresAt === null ? null : version.expiresAt - version.mintedAt;
}

/** A key whose versions end sooner needs no rotation. */
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

/** Whether a policy has a rule that is a number. */
function asks({ expiry, maxInterval, requestsPerMinute, concurrent }: TeamPolicy, rule: RuleName): boolean {
  const asked: Readonly<Partial<Record<RuleName, number | null>>> = {
    "expiry.default": expiry.default,
    "expiry.max": expiry.max,
    "rotation.maxInterval": maxInterval,
    "rateLimit.requestsPerMinute.default": requestsPerMinute.default,
    "rateLimit.requestsPerMinute.max": requestsPerMinute.max,
    "rateLimit.concurrent.default": concurrent.default,
    "rateLimit.concurrent.max": concurrent.max,
  };
  return (asked[rule] ?? null) !== null;
}

/** Whether a default gives an end, which does not hold yet, to a version that is older than the rule. */
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
  const isComing = <F extends "rateLimit" | "concurrent">(field: F) =>
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
  ];
}
