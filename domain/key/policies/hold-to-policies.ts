/**
 * Enforcement of policies on a declared key (docs/decisions/key-policies.md). A new key that breaks a policy is not
 * issued. An issued key goes on for the grace period; then the policies' numbers hold, and a violation that no number
 * can
 * put right ends the key until it is put right. An edit that breaks a rule is not applied.
 */
import { isDeepStrictEqual } from "node:util";
import type { AppliedParts, DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import { samePolicy } from "../fields/key-policies.ts";
import { isLiving, numbersOf, type StoredKey, type StoredVersion } from "../stored/stored-key.ts";
import { type KeptEnd, versionEnd } from "../stored/version-end.ts";
import { addedViolations } from "./added-violations.ts";
import { boundLife, currentVersion } from "./bound-life.ts";
import { boundNumbers, lifeOfVersion, NUMBER_RULES } from "./bound-numbers.ts";
import { lowest } from "./bounds.ts";
import { GONE_GATEWAY, type JudgedKey, judgeKey, listsOf, type Violation, violationText } from "./judge-key.ts";
import { withPolicyDefaults } from "./policy-defaults.ts";
import { dueAt, type TeamPolicies, type TeamPolicy } from "./team-policies.ts";

/** Verdict of policies on a key. Sentences are for people; times are milliseconds since the epoch. */
export type PolicyVerdict = {
  /** Reasons for which a new key is not issued. */
  readonly refused: readonly string[];
  /** Reasons for which the present declaration is not applied to an issued key. */
  readonly notApplied: readonly string[];
  /** Reasons for which an issued key ends. */
  readonly ends: readonly string[];
  /** Time at which it ends for these reasons; null if it does not, or if the time is not known yet. */
  readonly endsAt: number | null;
  /** Declared values that hold no more from a certain time on. */
  readonly bounded: readonly string[];
  /** Next time at which time alone makes a rule hold; Infinity for none. */
  readonly nextAt: number;
  /** Expiries of versions that are older than a rule; that rule sets them no earlier than it is due. */
  readonly keptEnds: readonly KeptEnd[];
  readonly unreadable: readonly string[];
  /** True if the declaration does not hold, and the rotation that the key had before is not known. */
  readonly isRotationUnknown: boolean;
  /** True if an issued key goes on as it was, and of its declaration the suspension alone holds, if anything. */
  readonly isKeptOff: boolean;
};

/** Verdict on a key that breaks no rule. */
export const NO_VERDICT: PolicyVerdict = {
  ...{ refused: [], notApplied: [], ends: [], endsAt: null, bounded: [], keptEnds: [], unreadable: [] },
  ...{ isRotationUnknown: false, isKeptOff: false },
  nextAt: Number.POSITIVE_INFINITY,
};

const UNREAD = "The declaration cannot be read.";

/** Facts that a decision on a key's policies needs. */
export type HeldKey = {
  readonly declared: DeclaredKey;
  /** True if of the declaration only the state could be read: an issued key is held as it was issued. */
  readonly isUnread?: boolean | undefined;
  /** Key that the declaration governs; undefined for a new key. */
  readonly stored: StoredKey | undefined;
  /** Gateway that the stored key is bound to, as policies name it; null for none. */
  readonly boundTo: NamedRef | null;
  /** True if the store has this generation of the declaration already. */
  readonly isApplied: boolean;
  /** Parts of the declaration that was last applied; null if they are not known. */
  readonly applied: AppliedParts | null;
  readonly team: TeamPolicies;
  /** Number of keys before this one, as in {@link judgeKey}. */
  readonly keysBefore: number | null;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
};

/** Effective declaration of a key, and the verdict of its policies. */
export type HoldResult = { readonly effective: DeclaredKey; readonly verdict: PolicyVerdict };

/** Holds a declared key to its team's policies. */
export function holdToPolicies(key: HeldKey): HoldResult {
  const { declared, stored, team, isUnread = false } = key;
  const isNone = team.policies.length === 0 && team.unreadable.length === 0;
  const isOver = declared.state === "Revoked" || stored?.state === "revoked";
  if (stored !== undefined && isUnread && !isOver) return holdAsIssued(key, stored, [UNREAD]);
  if (isNone || isOver) return { effective: declared, verdict: NO_VERDICT };
  return stored === undefined ? holdNew(key) : holdIssued(key, stored);
}

function holdNew({ declared, team, keysBefore, now }: HeldKey): HoldResult {
  const { policies, unreadable } = team;
  const effective = withPolicyDefaults(declared, policies);
  const refused = judgeKey(effective, policies, { bornAt: now, now, keysBefore }).map(violationText);
  return { effective, verdict: { ...NO_VERDICT, refused, unreadable } };
}

function holdIssued(key: HeldKey, stored: StoredKey): HoldResult {
  const { result, added } = judgeIssued(key, stored);
  const isReadable = key.team.unreadable.length === 0;
  return isReadable && added.length === 0 ? result : holdAsIssued(key, stored, added);
}

/** Returns the result for an issued key if its declaration holds, and the violations that the declaration would add. */
function judgeIssued(
  key: HeldKey,
  stored: StoredKey,
): { readonly result: HoldResult; readonly added: readonly string[] } {
  const { declared, team, keysBefore, now } = key;
  const { policies, unreadable } = team;
  const facts = { bornAt: currentVersion(stored)?.mintedAt ?? now, now, keysBefore };
  const { effective, coming, keptEnds, nextAt } = boundNumbers(declared, stored, policies, now);
  const judged = withKeptEnd(withPolicyDefaults(declared, policies), stored, policies, now);
  // A maximum life gives an expiry too.
  const isBounded = effective.expiresAfter !== null;
  const violations = judgeKey(judged, policies, facts).filter(({ rule }) => !(rule === "expiry.required" && isBounded));
  const [bounding, others] = [
    violations.filter(({ rule }) => NUMBER_RULES.has(rule)),
    violations.filter(({ rule }) => !NUMBER_RULES.has(rule)),
  ];
  const edited = { before: asStored(judged, key, stored), after: judged, policies, facts };
  const added = addedViolations(edited).filter(({ rule }) => !NUMBER_RULES.has(rule));
  const isAdded = (one: Violation) => added.some(({ policy, rule }) => policy === one.policy && rule === one.rule);
  const lasting = others.filter((violation) => !isAdded(violation));
  const deadlines = lasting.map((violation) => deadlineOf(policies, violation));
  const endsAt = lowest(deadlines);
  // The stored expiry moves no later before it is known since when the rule holds.
  const asBefore = deadlines.includes(null) ? stored.policy.expiresAt : null;
  const kept = withKeptEnd(effective, stored, policies, now);
  const verdict = {
    ...{ refused: [], notApplied: [], unreadable, endsAt, nextAt, keptEnds },
    ...{ isRotationUnknown: false, isKeptOff: false },
    ends: lasting.map(violationText),
    bounded: [...bounding.map(violationText), ...coming],
  };
  return {
    result: { effective: { ...kept, expiresAt: lowest([kept.expiresAt, endsAt, asBefore]) }, verdict },
    added: added.map(violationText),
  };
}

/**
 * Holds a key as it was issued when its declaration is not applied, or may not be because a policy cannot be read: the
 * policies' demands come to hold for it all the same, and nothing of it ends later (threats b160, b181).
 */
function holdAsIssued(key: HeldKey, stored: StoredKey, notApplied: readonly string[]): HoldResult {
  const isApplied = key.isApplied && notApplied.length === 0 && mayDoAsDeclared(key, stored);
  const declared = asIssued({ ...key, isApplied }, stored);
  const { effective, verdict } = judgeIssued({ ...key, declared }, stored).result;
  const endOf = (version: StoredVersion) => {
    const ofVersion = { ...declared, expiresAfter: lifeOfVersion(version) };
    const life = boundLife(ofVersion, stored, key.team.policies, key.now);
    return versionEnd(version, life.expiresAfter, life.keptEnds);
  };
  const keptEnds = stored.versions.filter(isLiving).map((version) => ({
    number: version.number,
    expiresAt: lowest([version.expiresAt, endOf(version)]),
  }));
  const isRotationUnknown = !isApplied && key.applied === null && declared.source.type === "Generate";
  const expiresAfter = lowest([effective.expiresAfter, isApplied ? key.declared.expiresAfter : null]);
  return {
    effective: { ...effective, expiresAfter },
    verdict: { ...verdict, notApplied, keptEnds, isRotationUnknown, isKeptOff: !isApplied },
  };
}

/** True if the stored key has the declared values that no policy bounds: maybe only a suspension was applied. */
function mayDoAsDeclared({ declared, boundTo }: HeldKey, { policy }: StoredKey): boolean {
  const isBoundSo = boundTo?.name === GONE_GATEWAY.name || isDeepStrictEqual(boundTo, declared.gatewayRef);
  return isBoundSo && samePolicy(policy, { ...policy, ...listsOf(declared) });
}

/**
 * Returns the declaration that holds for a key instead of its own: stored values, and the rotation and the delivery that
 * it had. A deletion goes by the declaration as it is then.
 */
function asIssued({ declared, boundTo, isApplied, applied }: HeldKey, stored: StoredKey): DeclaredKey {
  const { policy } = stored;
  const { secret, restartTargets } = applied ?? declared;
  return {
    ...{ ...declared, ...numbersOf(policy), ...listsOf(policy), expiresAt: policy.expiresAt },
    ...{ gatewayRef: boundTo, restartTargets },
    secret: { ...secret, deleteWithKey: declared.secret.deleteWithKey },
    expiresAfter: lifeOfVersion(currentVersion(stored)),
    rotationTrigger: isApplied ? declared.rotationTrigger : (currentVersion(stored)?.rotationTrigger ?? null),
    rotationInterval: isApplied ? declared.rotationInterval : (applied?.interval ?? null),
    overlap: isApplied ? declared.overlap : (applied?.overlap ?? declared.overlap),
  };
}

/**
 * Keeps the expiry that a key has although it is no longer declared, if a policy requires an expiry. A deadline that a
 * policy stored as the key's expiry is not the key's own: an expiry that is still to come when the rule is already due
 * cannot be such a deadline.
 */
function withKeptEnd<K extends JudgedKey>(key: K, stored: StoredKey, policies: readonly TeamPolicy[], now: number): K {
  const requiring = policies.filter(({ expiryRequired }) => expiryRequired);
  if (requiring.length === 0 || key.expiresAfter !== null || key.expiresAt !== null) return key;
  const isDue = requiring.every((policy) => (dueAt(policy, "expiry.required") ?? Number.POSITIVE_INFINITY) <= now);
  const { expiresAt } = stored.policy;
  const isOwn = isDue && expiresAt !== null && expiresAt > now;
  return { ...key, expiresAfter: lifeOfVersion(currentVersion(stored)), expiresAt: isOwn ? expiresAt : null };
}

/** Returns the key with its stored values, to find what an edit adds. Its expiry and its rotation are as judged. */
function asStored(judged: JudgedKey, { boundTo }: HeldKey, { policy }: StoredKey): JudgedKey {
  return { ...judged, ...listsOf(policy), gatewayRef: boundTo };
}

/** Returns when the grace period of a violation ends; null if that is not known yet. */
function deadlineOf(policies: readonly TeamPolicy[], { policy: name, rule }: Violation): number | null {
  const policy = policies.find((one) => one.name === name);
  return policy === undefined ? null : dueAt(policy, rule);
}
