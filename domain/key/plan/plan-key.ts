import { isDeepStrictEqual } from "node:util";
import type { StatedCondition } from "../../conditions.ts";
import { expiryNotice } from "../conditions/expiry-notice.ts";
import { keyConditions } from "../conditions/key-conditions.ts";
import { lateUsesKnownAt } from "../conditions/stale-consumers.ts";
import type { DeclaredKey } from "../declaration/declared-key.ts";
import { adoptedVersion, nextAdoptionLook } from "../issuance/adoption.ts";
import { mayMint } from "../issuance/issuance-block.ts";
import { type MintReason, rotationDueAt, wantedVersion } from "../issuance/issuance-policy.ts";
import { heldByPolicies, refusedByPolicies } from "../issuance/policy-violated.ts";
import { isRewriteEarly, rewriteFrom } from "../observed/altered-secret.ts";
import {
  deliveredVersion,
  governedKey,
  isOutdated,
  type ObservedDeclaration,
  type ObservedKey,
  type ResolvedReferences,
} from "../observed/observed-key.ts";
import {
  isLiving,
  type KeyPolicy,
  numbersOf,
  type RevocationReason,
  type StoredKey,
  type StoredVersion,
  versionIn,
} from "../stored/stored-key.ts";
import { type KeptEnd, versionEnd } from "../stored/version-end.ts";
import {
  retireOldAt,
  retiringEndsAt,
  roomAt,
  type SupersededReservation,
  succeededBy,
  supersededReservation,
} from "../stored/version-room.ts";
import { isNoWider } from "./no-wider.ts";

/** One step, with one effect. */
export type KeyAction =
  | { readonly do: "AddFinalizer" }
  | {
      readonly do: "Reserve";
      readonly number: number;
      readonly newKey: boolean;
      readonly policy: KeyPolicy;
      readonly why: MintReason;
      /** A lost reservation that makes way for this one. */
      readonly supersedes: Omit<SupersededReservation, "from"> | null;
    }
  | { readonly do: "Import"; readonly policy: KeyPolicy; readonly digest: string; readonly prefix: string }
  /** Makes a key that was made by hand the declaration's own; its policy is the next step. */
  | { readonly do: "TakeOver"; readonly keyId: string }
  /** Notes that the version may be read from here on, and writes the Secret. */
  | { readonly do: "Publish"; readonly number: number }
  | { readonly do: "Activate"; readonly number: number; readonly retireOldAt: number }
  /** `expiresAfter` counts anew from the mint of each version that lives, but for those whose end is kept. */
  | {
      readonly do: "UpdatePolicy";
      /** Of the declaration that is applied with it, or was before. */
      readonly generation: number;
      readonly policy: KeyPolicy;
      readonly expiresAfter: number | null;
      readonly keptEnds?: readonly KeptEnd[];
    }
  /** Ends the old versions whose deadline has passed. */
  | { readonly do: "Retire" }
  /** Ends an old version before its deadline: its successor has been adopted. */
  | { readonly do: "RetireAdopted"; readonly number: number }
  | { readonly do: "Render" }
  | { readonly do: "Restart"; readonly version: number }
  | { readonly do: "Revoke"; readonly reason: RevocationReason }
  | { readonly do: "DetachSecret" }
  | { readonly do: "Release" }
  | { readonly do: "DeleteSecret" }
  | { readonly do: "ReleaseFinalizer" }
  /** At rest until something changes, or until `requeueAt`. */
  | { readonly do: "Nothing" }
  /** Waits for replicas to confirm the last change, with nothing else to do. No status is written yet. */
  | { readonly do: "Wait" };

/** An action on the store alone, which many keys may take in one transaction. */
export type StoreAction = Extract<KeyAction, { do: "Revoke" | "UpdatePolicy" }>;

export type KeyPlan = {
  readonly action: KeyAction;
  readonly conditions: readonly StatedCondition[];
  /** When to look again though nothing changed, in milliseconds since the epoch; Infinity for never. */
  readonly requeueAt: number;
};

/**
 * Decides the next step for one declared key (architecture §2): the one place that does, for the controller, for
 * `keyplane plan` and for the exploration of every crash.
 *
 * @param now milliseconds since the epoch, by the database's clock
 */
export function planKey(observed: ObservedKey, now: number): KeyPlan {
  const step = planEnd(observed) ?? (isGoing(observed) ? planDeletion(observed, now) : planLife(observed, now));
  // A key is at rest only once its last change is confirmed for every replica.
  const action = step.do === "Nothing" && !observed.confirmed ? WAIT : step;
  return { action, conditions: keyConditions(observed, now), requeueAt: nextDeadline(observed, now) };
}

const NOTHING: KeyAction = { do: "Nothing" };
const WAIT: KeyAction = { do: "Wait" };

/**
 * The first part of {@link planKey}: the step by which a key that works is revoked or suspended; undefined where it is
 * not to end. It comes before every other step of the key, and needs no answer of the cluster: where thousands end
 * together, each has ended before anything else is done for any of them (threats c71).
 */
export function planEnd(observed: ObservedDeclaration): StoreAction | undefined {
  const { declared, references } = observed;
  const key = governedKey(observed);
  if (!observed.hasFinalizer || key === undefined || key.state === "revoked") return undefined;
  if (isGoing(observed)) return declared.retainOnDelete ? undefined : { do: "Revoke", reason: "Deleted" };
  if (declared.state === "Revoked") return { do: "Revoke", reason: "Declared" };
  if (references.teamId !== null && key.teamId !== references.teamId) return { do: "Revoke", reason: "Moved" };
  const update = planPolicy(observed, key);
  return update?.policy.suspended && key.state !== "suspended" ? update : undefined;
}

/** Undefined where the policy is as declared, or was set by a later generation of the declaration. */
function planPolicy(
  observed: ObservedDeclaration,
  key: StoredKey,
): Extract<StoreAction, { do: "UpdatePolicy" }> | undefined {
  const { declared, references, verdict } = observed;
  if (isOutdated(observed, key)) return undefined;
  if (heldByPolicies(observed) !== undefined) return planHeld(observed, key);
  const policy = policyOf(declared, references);
  const isAsDeclared =
    key.generation === observed.generation && samePolicy(key.policy, policy) && endsAsDeclared(key, declared, verdict);
  if (isAsDeclared) return undefined;
  if (waitsForTeam(observed, key)) return planSuspension(observed, key);
  const { expiresAfter } = declared;
  return { do: "UpdatePolicy", generation: observed.generation, policy, expiresAfter, keptEnds: verdict.keptEnds };
}

/** Without a team there are no policies of it to hold an edit to: what lets a key do more waits until there is one. */
export function waitsForTeam({ declared, references }: ObservedDeclaration, key: StoredKey): boolean {
  return references.teamId === null && isWider(key, policyOf(declared, references), declared);
}

function isWider(key: StoredKey, policy: KeyPolicy, { expiresAfter }: DeclaredKey): boolean {
  const endsLater = (version: StoredVersion) =>
    (versionEnd(version, expiresAfter) ?? Number.POSITIVE_INFINITY) > (version.expiresAt ?? Number.POSITIVE_INFINITY);
  return !isNoWider(policy, key.policy) || key.versions.filter(isLiving).some(endsLater);
}

/**
 * A declaration that breaks a policy can suspend the key and nothing else. What policies ask comes to hold of the key as
 * it was issued: else an edit that is not applied would keep off all that comes later. Only one that suspends counts as
 * applied, so that no earlier one lets the key work again.
 */
function planHeld(
  { declared, generation, verdict }: ObservedDeclaration,
  key: StoredKey,
): Extract<StoreAction, { do: "UpdatePolicy" }> | undefined {
  const { expiresAt, expiresAfter, state } = declared;
  const suspended = key.policy.suspended || state === "Suspended";
  const policy = { ...key.policy, ...numbersOf(declared), expiresAt, suspended };
  if (samePolicy(key.policy, policy) && endsAsDeclared(key, declared, verdict)) return undefined;
  const isSuspending = suspended && !key.policy.suspended;
  const applied = isSuspending ? generation : key.generation;
  return { do: "UpdatePolicy", generation: applied, policy, expiresAfter, keptEnds: verdict.keptEnds };
}

/** A declaration that waits can suspend the key and nothing else. */
function planSuspension(
  { declared, generation }: ObservedDeclaration,
  key: StoredKey,
): Extract<StoreAction, { do: "UpdatePolicy" }> | undefined {
  if (declared.state !== "Suspended" || key.policy.suspended) return undefined;
  const active = versionIn(key, "active");
  const expiresAfter = active?.expiresAt == null ? null : active.expiresAt - active.mintedAt;
  const keptEnds = key.versions.filter(isLiving).map(({ number, expiresAt }) => ({ number, expiresAt }));
  return { do: "UpdatePolicy", generation, policy: { ...key.policy, suspended: true }, expiresAfter, keptEnds };
}

function planLife(observed: ObservedKey, now: number): KeyAction {
  const { declared, references } = observed;
  const key = governedKey(observed);

  if (!observed.hasFinalizer) return observed.deleting ? NOTHING : { do: "AddFinalizer" };
  if (key?.state === "revoked") return NOTHING;
  if (key === undefined) {
    return planTakeOver(observed) ?? (declared.state === "Revoked" ? NOTHING : planBirth(observed, now));
  }
  if (isOutdated(observed, key)) return NOTHING;
  const update = planPolicy(observed, key);
  if (update !== undefined) return update;
  if (references.teamId === null) return NOTHING;
  return planVersions(observed, key, now);
}

/** Also of a key that is to be revoked, or suspended: it is the one that there is. */
function planTakeOver(observed: ObservedKey): KeyAction | undefined {
  const { importable, references } = observed;
  if (refusedByPolicies(observed) !== undefined) return undefined;
  if (importable === null || !("takesOver" in importable) || references.missing.length > 0) return undefined;
  return { do: "TakeOver", keyId: importable.takesOver };
}

/** A declaration that has no key yet. */
function planBirth(observed: ObservedKey, now: number): KeyAction {
  const { declared, references, importable } = observed;
  if (references.teamId === null) return NOTHING;
  const policy = policyOf(declared, references);
  if (declared.source.type === "Generate") {
    if (importable !== null || !mayMint(observed, now)) return NOTHING;
    return { do: "Reserve", number: 1, newKey: true, policy, why: "FirstVersion", supersedes: null };
  }
  if (refusedByPolicies(observed) !== undefined) return NOTHING;
  if (importable === null || !("digest" in importable) || references.missing.length > 0) return NOTHING;
  return { do: "Import", policy, digest: importable.digest, prefix: importable.prefix };
}

/** A key whose policy is as declared: what its versions and its Secret want. */
function planVersions(observed: ObservedKey, key: StoredKey, now: number): KeyAction {
  const { declared, secret, held } = observed;
  const delivered = deliveredVersion(observed, key);
  const isSteady = now >= observed.steadyFrom;
  if (isSteady && key.versions.some((version) => version.state === "retiring" && retiringEndsAt(version) <= now)) {
    return { do: "Retire" };
  }
  if (delivered?.state === "reserved") return planActivation(key, delivered, declared, now);
  const adopted = isSteady ? adoptedVersion(observed, key, now) : undefined;
  if (adopted !== undefined) return { do: "RetireAdopted", number: adopted.number };

  const wanted = wantedVersion(observed, key, now);
  if (wanted !== undefined && wanted.from <= now) {
    if (!mayMint(observed, now)) return NOTHING;
    if (held === null) return planReservation(key, declared, wanted.why, now);
    if (isRewriteEarly(observed, held, now)) return NOTHING;
    return observed.confirmed ? { do: "Publish", number: held } : WAIT;
  }

  if (delivered?.state !== "active" || secret.state !== "ours") return NOTHING;
  if (!secret.rendered && !secret.immutable && !isRewriteEarly(observed, delivered.number, now))
    return { do: "Render" };
  if (declared.restartTargets.length > 0 && delivered.number !== observed.restartedVersion) {
    return { do: "Restart", version: delivered.number };
  }
  return NOTHING;
}

function planReservation(key: StoredKey, declared: DeclaredKey, why: MintReason, now: number): KeyAction {
  const superseded = supersededReservation(key, declared, now);
  if (superseded !== undefined && superseded.from > now) return NOTHING;
  const supersedes = superseded === undefined ? null : { number: superseded.number, endsAt: superseded.endsAt };
  return { do: "Reserve", number: key.lastNumber + 1, newKey: false, policy: key.policy, why, supersedes };
}

/**
 * The version in the Secret works already. Where there is no room yet for those that it succeeds, as for reservations
 * that may have been read, or with an overlap that was declared meanwhile, they go on as they are until there is.
 */
function planActivation(key: StoredKey, { number }: StoredVersion, declared: DeclaredKey, now: number): KeyAction {
  const oldEndsAt = retireOldAt(key, declared, now);
  const isRoom = roomAt(key, oldEndsAt, now, succeededBy(number, key.versions).length) <= now;
  return isRoom ? { do: "Activate", number, retireOldAt: oldEndsAt } : NOTHING;
}

/** Whether it is being deleted: a protected key lives on as declared meanwhile. */
function isGoing(observed: ObservedDeclaration): boolean {
  const key = governedKey(observed);
  const isProtected = observed.declared.deletionProtection && key !== undefined && key.state !== "revoked";
  return observed.deleting && !isProtected;
}

/**
 * What is left to do where {@link planEnd} has nothing more to revoke. Deletion is keyed by the owner's uid and needs
 * neither the Secret nor the namespace (I6): a Secret that cannot be read, or that another's finalizer holds, never
 * holds it.
 */
function planDeletion(observed: ObservedKey, now: number): KeyAction {
  const { declared, secret } = observed;
  if (!observed.hasFinalizer) return NOTHING;
  const key = governedKey(observed);
  if (key !== undefined && key.state !== "revoked") {
    const delivered = deliveredVersion(observed, key);
    // The Secret that stays must hold a key that lives.
    if (delivered?.state === "reserved") return planActivation(key, delivered, declared, now);
    if (secret.state === "ours" && secret.owned) return { do: "DetachSecret" };
    return { do: "Release" };
  }
  const isLeft = declared.retainOnDelete || !declared.secret.deleteWithKey;
  if (secret.state === "ours" && !secret.deleting && (secret.owned || !isLeft)) return { do: "DeleteSecret" };
  return { do: "ReleaseFinalizer" };
}

/** What the store should say of the key, but for its secret. */
export function policyOf(declared: DeclaredKey, references: ResolvedReferences): KeyPolicy {
  return {
    displayName: declared.displayName,
    scopes: declared.scopes,
    boundGatewayId: references.gatewayId,
    libraryIds: references.libraryIds,
    mcpDefaultLibraryId: references.mcpDefaultLibraryId,
    allowedModels: declared.allowedModels,
    suspended: declared.state === "Suspended",
    expiresAt: declared.expiresAt,
    rateLimit: declared.rateLimit,
    concurrent: declared.concurrent,
    tokenLimit: declared.tokenLimit,
    budgets: declared.budgets,
    subject: declared.subject,
    allowedCIDRs: declared.allowedCIDRs,
  };
}

/** Compares by content; the order of the lists does not matter, since they are sets. */
function samePolicy(a: KeyPolicy, b: KeyPolicy): boolean {
  const sorted = (policy: KeyPolicy): KeyPolicy => ({
    ...policy,
    scopes: [...policy.scopes].sort(),
    libraryIds: policy.libraryIds && [...new Set(policy.libraryIds)].sort(),
    allowedModels: policy.allowedModels && [...new Set(policy.allowedModels)].sort(),
  });
  return isDeepStrictEqual(sorted(a), sorted(b));
}

/** Whether each version that lives ends when `expiresAfter` says, counted from its mint, or at the end that it keeps. */
function endsAsDeclared(
  key: StoredKey,
  { expiresAfter }: DeclaredKey,
  { keptEnds }: ObservedDeclaration["verdict"],
): boolean {
  return key.versions
    .filter(isLiving)
    .every((version) => version.expiresAt === versionEnd(version, expiresAfter, keptEnds));
}

/**
 * How often a Secret that may not be read is tried again, in milliseconds: no watch reports that the right is back. No
 * back-off is longer (architecture §2, I8).
 */
const CLOSED_LOOK_MS = 30_000;

/** The next moment at which time alone changes something. */
function nextDeadline(observed: ObservedKey, now: number): number {
  const key = governedKey(observed);
  if (key?.state === "revoked") return Number.POSITIVE_INFINITY;
  const look = observed.secret.state === "unreadable" ? now + CLOSED_LOOK_MS : Number.POSITIVE_INFINITY;
  if (key === undefined) return look;
  const active = versionIn(key, "active");
  const deadlines = [
    look,
    observed.declared.expiresAt,
    active?.expiresAt,
    active && rotationDueAt(active, observed.declared.rotationInterval, key.id),
    wantedVersion(observed, key, now)?.from,
    supersededReservation(key, observed.declared, now)?.from,
    observed.altered && rewriteFrom(observed.altered),
    ...key.versions.map((version) => (version.state === "retiring" ? retiringEndsAt(version) : null)),
    expiryNotice(observed.declared, key, now)?.from,
    nextAdoptionLook(observed, key, now),
    ...lateUsesKnownAt(observed.declared, key),
    observed.verdict.nextAt,
    observed.verdict.endsAt,
    observed.steadyFrom,
  ];
  return Math.min(
    ...deadlines.filter((at) => at !== null && at !== undefined && at > now).map(Number),
    Number.POSITIVE_INFINITY,
  );
}
