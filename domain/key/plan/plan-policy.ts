import type { DeclaredKey } from "../declaration/declared-key.ts";
import type { KeyPolicy } from "../declaration/key-policy.ts";
import { isNoWider, policyOf, samePolicy } from "../fields/key-policies.ts";
import { heldByPolicies } from "../issuance/policy-violated.ts";
import { isOutdated, type ObservedDeclaration } from "../observed/observed-key.ts";
import { isLiving, numbersOf, type StoredKey, type StoredVersion, versionIn } from "../stored/stored-key.ts";
import { versionEnd } from "../stored/version-end.ts";
import type { StoreAction } from "./key-action.ts";

/** Plans to store the declared policy; undefined if the store has it, or has the policy of a later generation. */
export function planPolicy(
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

/** True if an edit that lets a key do more waits for a team: without a team no policies are there to hold it to. */
export function waitsForTeam({ declared, references }: ObservedDeclaration, key: StoredKey): boolean {
  return references.teamId === null && isWider(key, policyOf(declared, references), declared);
}

function isWider(key: StoredKey, policy: KeyPolicy, { expiresAfter }: DeclaredKey): boolean {
  const endsLater = (version: StoredVersion) =>
    (versionEnd(version, expiresAfter) ?? Number.POSITIVE_INFINITY) > (version.expiresAt ?? Number.POSITIVE_INFINITY);
  return !isNoWider(policy, key.policy) || key.versions.filter(isLiving).some(endsLater);
}

/**
 * Plans the update of a key whose declaration breaks a policy: the declaration can suspend the key and nothing else.
 * The
 * policies' demands come to hold for the key as it was issued: otherwise an edit that is not applied would keep off
 * everything that comes later. Only a declaration that suspends counts as applied, so that no earlier one lets the key
 * work again.
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

/** Plans the suspension by a declaration that is not applied otherwise: it can suspend the key and nothing else. */
function planSuspension(
  { declared, generation }: Pick<ObservedDeclaration, "declared" | "generation">,
  key: StoredKey,
): Extract<StoreAction, { do: "UpdatePolicy" }> | undefined {
  if (declared.state !== "Suspended" || key.policy.suspended) return undefined;
  const active = versionIn(key, "active");
  const expiresAfter = active?.expiresAt == null ? null : active.expiresAt - active.mintedAt;
  const keptEnds = key.versions.filter(isLiving).map(({ number, expiresAt }) => ({ number, expiresAt }));
  return { do: "UpdatePolicy", generation, policy: { ...key.policy, suspended: true }, expiresAfter, keptEnds };
}

/** True if each living version ends when `expiresAfter` says, counted from its mint, or at the end that it keeps. */
function endsAsDeclared(
  key: StoredKey,
  { expiresAfter }: DeclaredKey,
  { keptEnds }: ObservedDeclaration["verdict"],
): boolean {
  return key.versions
    .filter(isLiving)
    .every((version) => version.expiresAt === versionEnd(version, expiresAfter, keptEnds));
}
