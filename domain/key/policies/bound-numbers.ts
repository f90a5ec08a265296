/** The numbers that hold of a key that was issued before its policies' rules came to hold. */
import type { DeclaredKey } from "../declared-key.ts";
import { isLiving, type StoredKey, type StoredVersion, versionIn } from "../stored-key.ts";
import { boundValue, lowest } from "./bounds.ts";
import type { Bounds } from "./declared-policy.ts";
import { type PolicyDefaults, policyDefaults, withPolicyDefaults } from "./policy-defaults.ts";
import type { RuleName } from "./rules-in-force.ts";
import { dueAt, type TeamPolicy } from "./team-policies.ts";

type BoundedKey = {
  readonly effective: DeclaredKey;
  /** Defaults that do not hold yet, as sentences. */
  readonly coming: readonly string[];
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
  const expiresAfter = boundLife(declared, stored, policies, defaults, isDue("expiry.default", "expiry.max"), now);
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
    rotationInterval: isDue("rotation.maxInterval")
      ? boundInterval({ ...declared, expiresAfter }, stored, policies, now)
      : declared.rotationInterval,
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
    effective,
    coming: comingDefaults(declared, effective, policies),
    nextAt: Math.min(...dates.filter((at) => at > now), Number.POSITIVE_INFINITY),
  };
}

/** The version that is in use, or else the one that is on its way. */
export function currentVersion(stored: StoredKey): StoredVersion | undefined {
  return versionIn(stored, "active") ?? stored.versions.find(isLiving);
}

/** How long the key's version lives by its own end, in milliseconds; null without one. */
export function lifeOfVersion(stored: StoredKey): number | null {
  const version = currentVersion(stored);
  return version === undefined || version.expiresAt === null ? null : version.expiresAt - version.mintedAt;
}

function boundLife(
  { expiresAfter: asked, expiresAt }: DeclaredKey,
  stored: StoredKey,
  policies: readonly TeamPolicy[],
  defaults: PolicyDefaults,
  isDue: boolean,
  now: number,
): number | null {
  const max = maxOf(policies.map(({ expiry }) => expiry));
  const bornAt = currentVersion(stored)?.mintedAt ?? now;
  if (expiresAt !== null && (max === null || expiresAt <= bornAt + max)) return asked;
  const given = expiresAt === null ? defaults.expiresAfter : null;
  return boundValue({ asked, given, max, has: lifeOfVersion(stored) }, isDue);
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

function comingDefaults(declared: DeclaredKey, effective: DeclaredKey, policies: readonly TeamPolicy[]): string[] {
  const given = withPolicyDefaults(declared, policies);
  const isComing = <F extends "expiresAfter" | "rateLimit" | "concurrent">(field: F) =>
    declared[field] === null && given[field] !== null && effective[field] === null;
  return [
    ...(isComing("expiresAfter")
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
