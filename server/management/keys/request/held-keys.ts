/**
 * Checks keys that are made and changed by hand against the policies of their team (docs/decisions/key-policies.md).
 */
import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import {
  type HeldValues,
  holdMadeKey,
  judgeChange,
  judgeMadeKey,
  judgeNewKey,
  lifeOfNext,
  type MadeKeyVerdict,
} from "../../../../domain/key/policies/made-key.ts";
import type { TeamPolicies } from "../../../../domain/key/policies/team-policies.ts";
import { numbersOf } from "../../../../domain/key/stored/stored-key.ts";
import type { Db, Tx } from "../../../../store/database/change.ts";
import { databaseTime } from "../../../../store/database/times.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { countKeysBefore, countKeysBeforeNew } from "../../../../store/keys/search/keys-before.ts";
import { gatewayOfPolicy, policiesOfTeam } from "../../../../store/policies/key-policies.ts";
import { PolicyRefusal, unreadablePolicies } from "./policy-refusal.ts";

/**
 * Returns the values that a new key gets, with the defaults of its team's policies.
 *
 * @param policy requested values, with their references resolved
 * @throws Problem `invalid` for a key that breaks a policy; `conflict` while a policy cannot be read
 */
export async function holdNewKey(
  tx: Tx,
  teamId: string,
  spec: ApiManagedKeySpec,
  policy: KeyPolicy,
): Promise<Pick<HeldValues, "policy" | "expiresAfter">> {
  const { policies, unreadable } = await policiesOfTeam(tx, teamId);
  if (unreadable.length > 0) throw unreadablePolicies(unreadable);
  const isCounted = policies.some(({ maxKeys }) => maxKeys !== null);
  const keysBefore = isCounted ? await countKeysBeforeNew(tx, teamId) : null;
  const made = { spec, gateway: await gatewayOfPolicy(tx, policy.boundGatewayId) };
  const { violations, held } = judgeNewKey(made, policies, { now: await databaseTime(tx), keysBefore });
  if (violations.length > 0) throw new PolicyRefusal(violations);
  return { policy: { ...policy, ...numbersOf(held) }, expiresAfter: held.expiresAfter };
}

/** Requested change of a key. */
export type AskedChange = {
  readonly spec: ApiManagedKeySpec;
  /** Requested values, with their references resolved. */
  readonly policy: KeyPolicy;
  /** True if the change only suspends the key, which no policy prevents. */
  readonly isSuspension: boolean;
};

/**
 * Returns the values of a key after a change. Numbers that were too high before a policy came stay until the policy's
 * deadline.
 *
 * @param key locked, living, and made by hand
 * @throws Problem `invalid` for a change by which the key breaks a policy that it did not break before; `conflict`
 * while a policy cannot be read
 */
export async function holdChangedKey(tx: Tx, key: LoadedKey, asked: AskedChange): Promise<HeldValues> {
  const { team, facts } = await factsOf(tx, key);
  const { policies, unreadable } = team;
  if (unreadable.length > 0 && !asked.isSuspension) throw unreadablePolicies(unreadable);
  const made = { spec: asked.spec, gateway: await gatewayOfPolicy(tx, asked.policy.boundGatewayId) };
  if (policies.length > 0 && key.spec !== null) {
    const before = { spec: key.spec, gateway: await gatewayOfPolicy(tx, key.policy.boundGatewayId) };
    const violations = judgeChange(before, made, key, policies, facts);
    if (violations.length > 0) throw new PolicyRefusal(violations);
  }
  const held = holdMadeKey(made, key, team, facts);
  const { expiresAt } = held.policy;
  return { ...held, policy: { ...asked.policy, expiresAt, ...numbersOf(held.policy) } };
}

/**
 * Returns how long a new version of a key lives, in milliseconds from its mint; null for no end.
 *
 * @param key locked, living, and made by hand
 */
export async function lifeOfNextVersion(tx: Tx, key: LoadedKey): Promise<number | null> {
  if (key.spec === null) return null;
  const { team, facts } = await factsOf(tx, key);
  return lifeOfNext({ spec: key.spec, gateway: null }, key, team, facts);
}

/**
 * Returns what the policies of its team say of a living key that was made by hand. undefined for other keys, and if
 * there are no policies.
 */
export async function readPolicyVerdict(db: Db, keyId: string): Promise<MadeKeyVerdict | undefined> {
  const key = await findKey(db, keyId);
  if (key === undefined || key.spec === null || key.state === "revoked") return undefined;
  const { team, facts } = await factsOf(db, key);
  if (team.policies.length === 0) return undefined;
  const gateway = await gatewayOfPolicy(db, key.policy.boundGatewayId);
  return judgeMadeKey({ spec: key.spec, gateway }, key, team, facts);
}

async function factsOf(
  db: Db,
  key: LoadedKey,
): Promise<{
  readonly team: TeamPolicies;
  readonly facts: { readonly now: number; readonly keysBefore: number | null };
}> {
  const team = await policiesOfTeam(db, key.teamId);
  const isCounted = team.policies.some(({ maxKeys }) => maxKeys !== null);
  const keysBefore = isCounted ? await countKeysBefore(db, key.teamId, key.id) : null;
  return { team, facts: { now: await databaseTime(db), keysBefore } };
}
