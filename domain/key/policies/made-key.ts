/**
 * Enforcement of policies on a key that is made by hand, by the management API or the console
 * (docs/decisions/key-policies.md): a request that breaks a rule is refused, and what existed before a rule gets the
 * same
 * deadlines as a declared key.
 */
import { isDeepStrictEqual } from "node:util";
import type { Spec } from "../../kinds/kinds.ts";
import type { ApiManagedKeySpec } from "../declaration/api-managed-key.ts";
import type { DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import type { KeyPolicy } from "../declaration/key-policy.ts";
import { declareKey } from "../fields/declare-key.ts";
import { isLiving, type KeyNumbers, numbersOf, type StoredKey } from "../stored/stored-key.ts";
import { type KeptEnd, versionEnd } from "../stored/version-end.ts";
import { addedViolations } from "./added-violations.ts";
import { currentVersion } from "./bound-life.ts";
import { lowest } from "./bounds.ts";
import { NO_RULES } from "./declared-policy.ts";
import { type HoldResult, holdToPolicies, type PolicyVerdict } from "./hold-to-policies.ts";
import { judgeKey, type KeyFacts, type Violation } from "./judge-key.ts";
import { withPolicyDefaults } from "./policy-defaults.ts";
import type { TeamPolicies, TeamPolicy } from "./team-policies.ts";

/** Request for a key made by hand. */
export type MadeKey = {
  readonly spec: ApiManagedKeySpec;
  /** ModelGateway that the key is bound to. A policy can name no gateway without a namespace. */
  readonly gateway: NamedRef | null;
};

/** Values that hold for a key and its versions. Milliseconds. */
export type HeldValues = {
  readonly policy: KeyPolicy;
  readonly expiresAfter: number | null;
  readonly keptEnds: readonly KeptEnd[];
};

/** Verdict on a key that is to be made: its violations, and the values that would hold for it. */
type NewKeyVerdict = {
  readonly violations: readonly Violation[];
  readonly held: Pick<HeldValues, "expiresAfter"> & KeyNumbers;
};

/** Judges a key that is to be made, with the defaults of its team's policies for what it does not ask for. */
export function judgeNewKey(
  made: MadeKey,
  policies: readonly TeamPolicy[],
  { now, keysBefore }: Pick<KeyFacts, "now" | "keysBefore">,
): NewKeyVerdict {
  const effective = withPolicyDefaults(declareMade(made), policies);
  const violations = judgeKey(effective, policies, { bornAt: now, now, keysBefore });
  return {
    violations: violations.map((violation) => asMade(violation, made)),
    held: { expiresAfter: effective.expiresAfter, ...numbersOf(effective) },
  };
}

/**
 * Returns the violations that a change of a key adds to those that the key has already: these have their deadline, and
 * are no reason to refuse another change.
 */
export function judgeChange(
  before: MadeKey,
  after: MadeKey,
  stored: StoredKey,
  policies: readonly TeamPolicy[],
  { now, keysBefore }: Pick<KeyFacts, "now" | "keysBefore">,
): Violation[] {
  const facts = { bornAt: currentVersion(stored)?.mintedAt ?? now, now, keysBefore };
  const given = (one: MadeKey) => withPolicyDefaults(declareMade(one), policies);
  return addedViolations({ before: given(before), after: given(after), policies, facts }).map((violation) =>
    asMade(violation, after),
  );
}

/** Verdict of policies on a key made by hand, in sentences for people. */
export type MadeKeyVerdict = Pick<PolicyVerdict, "ends" | "endsAt" | "bounded">;

/** Facts besides the key that a decision on a key made by hand needs. */
type MadeKeyFacts = Pick<KeyFacts, "now" | "keysBefore">;

/** Returns why a key made by hand ends and when, at a given time, and which numbers hold instead of its own. */
export function judgeMadeKey(
  made: MadeKey,
  stored: StoredKey,
  team: TeamPolicies,
  facts: MadeKeyFacts,
): MadeKeyVerdict {
  const { ends, endsAt, bounded } = holdMade(made, stored, team, facts).verdict;
  return { ends, endsAt, bounded };
}

function holdMade(made: MadeKey, stored: StoredKey, team: TeamPolicies, facts: MadeKeyFacts): HoldResult {
  return holdToPolicies({
    ...{
      declared: declareMade(made),
      stored,
      ...facts,
      isApplied: false,
      applied: null,
      boundTo: made.gateway,
    },
    team: { ...team, policies: team.policies.flatMap(asLives) },
  });
}

/** Returns the values that hold for a key made by hand, and for its versions, at a given time. */
export function holdMadeKey(made: MadeKey, stored: StoredKey, team: TeamPolicies, facts: MadeKeyFacts): HeldValues {
  const { effective, verdict } = holdMade(made, stored, team, facts);
  const { expiresAfter, expiresAt } = effective;
  const policy = { ...stored.policy, expiresAt, ...numbersOf(effective) };
  return { policy, expiresAfter, keptEnds: verdict.keptEnds };
}

/** True if these values hold for a key and its versions already. */
export function isHeldSo({ policy, expiresAfter, keptEnds }: HeldValues, stored: StoredKey): boolean {
  const isSame =
    policy.expiresAt === stored.policy.expiresAt && isDeepStrictEqual(numbersOf(policy), numbersOf(stored.policy));
  const living = stored.versions.filter(isLiving);
  return isSame && living.every((version) => version.expiresAt === versionEnd(version, expiresAfter, keptEnds));
}

/**
 * Returns how long a version lives that is minted now, in milliseconds; null for no expiry. While a policy cannot be
 * read, it lives no longer than the version before it.
 */
export function lifeOfNext(made: MadeKey, stored: StoredKey, team: TeamPolicies, facts: MadeKeyFacts): number | null {
  return lowest([declareMade(made).expiresAfter, holdMadeKey(made, stored, team, facts).expiresAfter]);
}

/** Declares the key as an import: its secret is with those who have it, and no controller rotates it. */
function declareMade({ spec, gateway }: MadeKey): DeclaredKey {
  return { ...declareKey("", "", { ...spec, ...UNDELIVERED }), gatewayRef: gateway };
}

/** Fields of a spec for a key that no controller delivers. */
const UNDELIVERED = {
  source: { type: "ImportHash" },
  secret: { dataKey: "none", creationPolicy: "Owner", onLost: "Report", onTampered: "Report" },
  restartTargets: [],
  deletionPolicy: "Revoke",
  deletionProtection: false,
} satisfies Partial<Spec<"PlatformKey">>;

/** Rewrites a violation for a key made by hand: no rotation comes by itself, so a version has to end instead. */
function asMade(violation: Violation, { spec }: MadeKey): Violation {
  const { what, rule, field } = violation;
  if (rule === "rotation.maxInterval") {
    const step = "none comes by itself, so write expiresAfter or expiresAt within that";
    return { ...violation, field: "spec.expiresAfter", step, message: `${what}: ${step}` };
  }
  if (rule === "allowedScopes" && spec.preset !== undefined) return { ...violation, field: "spec.preset" };
  return rule === "maxKeys" ? { ...violation, field: field.replace("metadata.", "") } : violation;
}

/** Splits a policy's longest rotation interval off into a second policy, as a longest life of a version. */
function asLives(policy: TeamPolicy): TeamPolicy[] {
  if (policy.maxInterval === null) return [policy];
  const since = policy.since["rotation.maxInterval"];
  const { name, gracePeriod, maxInterval } = policy;
  const asLife = {
    ...NO_RULES,
    ...{ name, gracePeriod, expiry: { default: null, max: maxInterval } },
    since: since === undefined ? {} : { "expiry.max": since },
  };
  return [{ ...policy, maxInterval: null }, asLife];
}
