/**
 * What policies make of a declared key (docs/decisions/key-policies.md): a new key that breaks one is not issued. One
 * that was issued goes on for the grace period; then numbers hold as the policies have them, and what no number puts
 * right ends the key until it is put right. An edit that breaks a rule is not applied.
 */
import type { AppliedRotation, DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import { samePolicy } from "../fields/key-policies.ts";
import { isLiving, numbersOf, type StoredKey } from "../stored/stored-key.ts";
import { type KeptEnd, versionEnd } from "../stored/version-end.ts";
import { addedViolations } from "./added-violations.ts";
import { currentVersion } from "./bound-life.ts";
import { boundNumbers, lifeOfVersion } from "./bound-numbers.ts";
import { lowest } from "./bounds.ts";
import { type JudgedKey, judgeKey, type Violation, violationText } from "./judge-key.ts";
import { withPolicyDefaults } from "./policy-defaults.ts";
import type { RuleName } from "./rules-in-force.ts";
import { dueAt, type TeamPolicies, type TeamPolicy } from "./team-policies.ts";

/** What a key's policies say of it. Sentences for people; times are milliseconds since the epoch. */
export type PolicyVerdict = {
  /** Why nothing is issued to a key that is new. */
  readonly refused: readonly string[];
  /** Why what is declared now is not applied to a key that was issued. */
  readonly notApplied: readonly string[];
  /** Why a key that was issued ends. */
  readonly ends: readonly string[];
  /** When it ends for that; null for not, or not known yet. */
  readonly endsAt: number | null;
  /** What is declared, and holds no more from a moment on. */
  readonly bounded: readonly string[];
  /** The next moment at which time alone makes a rule hold; Infinity for none. */
  readonly nextAt: number;
  /** Of versions that are older than a rule: their ends, which that rule sets no earlier than it is due. */
  readonly keptEnds: readonly KeptEnd[];
  readonly unreadable: readonly string[];
  /** What is declared does not hold, and how the key was to be rotated before is not known. */
  readonly isRotationUnknown: boolean;
  /** Of what is declared of a key that was issued, its suspension is applied, and not what else it may do. */
  readonly isPartApplied: boolean;
};

/** Of a key that breaks no rule. */
export const NO_VERDICT: PolicyVerdict = {
  ...{ refused: [], notApplied: [], ends: [], endsAt: null, bounded: [], keptEnds: [], unreadable: [] },
  ...{ isRotationUnknown: false, isPartApplied: false },
  nextAt: Number.POSITIVE_INFINITY,
};

/** What a decision on a key's policies needs. */
export type HeldKey = {
  readonly declared: DeclaredKey;
  /** The key that the declaration governs; undefined for a new one. */
  readonly stored: StoredKey | undefined;
  /** The gateway that the stored key is bound to, as policies name it; null for none. */
  readonly boundTo: NamedRef | null;
  /** Whether the store has this generation of the declaration already. */
  readonly isApplied: boolean;
  /** How the declaration that was last applied has the key rotated; null where that is not known. */
  readonly applied: AppliedRotation | null;
  readonly team: TeamPolicies;
  /** As {@link judgeKey} has it. */
  readonly keysBefore: number | null;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
};

/** A key as it is to be, and what its policies say. */
export type HoldResult = { readonly effective: DeclaredKey; readonly verdict: PolicyVerdict };

/** Holds a declared key to its team's policies. */
export function holdToPolicies(key: HeldKey): HoldResult {
  const { declared, stored, team } = key;
  const isNone = team.policies.length === 0 && team.unreadable.length === 0;
  if (isNone || declared.state === "Revoked" || stored?.state === "revoked") {
    return { effective: declared, verdict: NO_VERDICT };
  }
  return stored === undefined ? holdNew(key) : holdIssued(key, stored);
}

function holdNew({ declared, team, keysBefore, now }: HeldKey): HoldResult {
  const { policies, unreadable } = team;
  const effective = withPolicyDefaults(declared, policies);
  const refused = judgeKey(effective, policies, { bornAt: now, now, keysBefore }).map(violationText);
  return { effective, verdict: { ...NO_VERDICT, refused, unreadable } };
}

/** Rules about numbers: what holds instead of what a key declares is a number too. */
const BOUNDING: ReadonlySet<RuleName> = new Set<RuleName>([
  "expiry.max",
  "rotation.maxInterval",
  "rateLimit.requestsPerMinute.max",
  "rateLimit.concurrent.max",
  "rateLimit.tokensPerMinute.max",
  "budgets",
]);

function holdIssued(key: HeldKey, stored: StoredKey): HoldResult {
  const { result, added } = judgeIssued(key, stored);
  const isReadable = key.team.unreadable.length === 0;
  return isReadable && added.length === 0 ? result : holdAsIssued(key, stored, added);
}

/** What becomes of a key that was issued where its declaration holds, and what that would add against the rules. */
function judgeIssued(
  key: HeldKey,
  stored: StoredKey,
): { readonly result: HoldResult; readonly added: readonly string[] } {
  const { declared, team, keysBefore, now } = key;
  const { policies, unreadable } = team;
  const facts = { bornAt: currentVersion(stored)?.mintedAt ?? now, now, keysBefore };
  const { effective, coming, keptEnds, nextAt } = boundNumbers(declared, stored, policies, now);
  const judged = withKeptEnd(withPolicyDefaults(declared, policies), stored, policies, now);
  // A longest life gives an end too.
  const isBounded = effective.expiresAfter !== null;
  const violations = judgeKey(judged, policies, facts).filter(({ rule }) => !(rule === "expiry.required" && isBounded));
  const [bounding, others] = [
    violations.filter(({ rule }) => BOUNDING.has(rule)),
    violations.filter(({ rule }) => !BOUNDING.has(rule)),
  ];
  const edited = { before: asStored(judged, key, stored), after: judged, policies, facts };
  const added = addedViolations(edited).filter(({ rule }) => !BOUNDING.has(rule));
  const isAdded = (one: Violation) => added.some(({ policy, rule }) => policy === one.policy && rule === one.rule);
  const lasting = others.filter((violation) => !isAdded(violation));
  const deadlines = lasting.map((violation) => deadlineOf(policies, violation));
  const endsAt = lowest(deadlines);
  // The end that there is moves no later before it is known since when the rule holds.
  const asBefore = deadlines.includes(null) ? stored.policy.expiresAt : null;
  const kept = withKeptEnd(effective, stored, policies, now);
  const verdict = {
    ...{ refused: [], notApplied: [], unreadable, endsAt, nextAt, keptEnds },
    ...{ isRotationUnknown: false, isPartApplied: false },
    ends: lasting.map(violationText),
    bounded: [...bounding.map(violationText), ...coming],
  };
  return {
    result: { effective: { ...kept, expiresAt: lowest([kept.expiresAt, endsAt, asBefore]) }, verdict },
    added: added.map(violationText),
  };
}

/**
 * Holds a key whose declaration is not applied, or may not be since a policy cannot be read, as the one that was issued:
 * what policies ask comes to hold of it all the same, and nothing of it ends later (threats b160, b181).
 */
function holdAsIssued(key: HeldKey, stored: StoredKey, notApplied: readonly string[]): HoldResult {
  const isKnown = key.isApplied && notApplied.length === 0;
  const isApplied = isKnown && mayDoAsDeclared(key.declared, stored);
  const declared = asIssued({ ...key, isApplied }, stored);
  const { effective, verdict } = judgeIssued({ ...key, declared }, stored).result;
  const current = currentVersion(stored);
  const endOf = (version: StoredKey["versions"][number]) =>
    version === current ? versionEnd(version, effective.expiresAfter, verdict.keptEnds) : version.expiresAt;
  const keptEnds = stored.versions.filter(isLiving).map((version) => ({
    number: version.number,
    expiresAt: lowest([version.expiresAt, endOf(version)]),
  }));
  const isRotationUnknown = !isApplied && key.applied === null && declared.source.type === "Generate";
  const expiresAfter = lowest([effective.expiresAfter, isApplied ? key.declared.expiresAfter : null]);
  return {
    effective: { ...effective, gatewayRef: key.declared.gatewayRef, expiresAfter },
    verdict: { ...verdict, notApplied, keptEnds, isRotationUnknown, isPartApplied: isKnown && !isApplied },
  };
}

/** By what no policy bounds. A generation may be stored of which nothing but a suspension was applied. */
function mayDoAsDeclared({ scopes, allowedModels, allowedCIDRs }: DeclaredKey, { policy }: StoredKey): boolean {
  return samePolicy(policy, { ...policy, scopes, allowedModels, allowedCIDRs });
}

/** What holds of a key in the place of its declaration: what the store has of it, and the rotation that it had. */
function asIssued({ declared, boundTo, isApplied, applied }: HeldKey, stored: StoredKey): DeclaredKey {
  const { scopes, allowedModels, allowedCIDRs, expiresAt } = stored.policy;
  return {
    ...{ ...declared, ...numbersOf(stored.policy), scopes, allowedModels, allowedCIDRs, expiresAt },
    gatewayRef: boundTo,
    expiresAfter: lifeOfVersion(stored),
    rotationTrigger: isApplied ? declared.rotationTrigger : (currentVersion(stored)?.rotationTrigger ?? null),
    rotationInterval: isApplied ? declared.rotationInterval : (applied?.interval ?? null),
    overlap: isApplied ? declared.overlap : (applied?.overlap ?? declared.overlap),
  };
}

/**
 * Where a key must have an end, one that it has stays though it is declared no more. A deadline that a policy stored as
 * the key's end is none of its own: one that is still to come where the rule is due already cannot be that.
 */
function withKeptEnd<K extends JudgedKey>(key: K, stored: StoredKey, policies: readonly TeamPolicy[], now: number): K {
  const requiring = policies.filter(({ expiryRequired }) => expiryRequired);
  if (requiring.length === 0 || key.expiresAfter !== null || key.expiresAt !== null) return key;
  const isDue = requiring.every((policy) => (dueAt(policy, "expiry.required") ?? Number.POSITIVE_INFINITY) <= now);
  const { expiresAt } = stored.policy;
  const isOwn = isDue && expiresAt !== null && expiresAt > now;
  return { ...key, expiresAfter: lifeOfVersion(stored), expiresAt: isOwn ? expiresAt : null };
}

/** The key as the store has it: what an edit adds to that is not applied. Its end and its rotation are as judged. */
function asStored(judged: JudgedKey, { boundTo }: HeldKey, { policy }: StoredKey): JudgedKey {
  return {
    ...judged,
    scopes: policy.scopes,
    gatewayRef: boundTo,
    allowedModels: policy.allowedModels,
    allowedCIDRs: policy.allowedCIDRs,
  };
}

/** When the grace period of a violation ends; null where it is not known yet. */
function deadlineOf(policies: readonly TeamPolicy[], { policy: name, rule }: Violation): number | null {
  const policy = policies.find((one) => one.name === name);
  return policy === undefined ? null : dueAt(policy, rule);
}
