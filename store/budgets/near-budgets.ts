import { sql } from "kysely";
import {
  type Budget,
  budgetsOf,
  budgetsOfPolicy,
  type KeyBudgets,
  type OwnedBudget,
  policyOwner,
  type SharedBudgets,
} from "../../domain/budget/budget.ts";
import { type BudgetOwner, ownerOfBudget } from "../../domain/budget/budget-owner.ts";
import type { Db } from "../database/change.ts";
import { type BudgetUse, readUses } from "./read-budgets.ts";

/** Percentage of use from which a budget counts as nearly used up. */
const NEAR_PERCENT = 80;

/** Budget that is nearly used up, and its owner: a key, a team, or, if both are null, the teams of a policy. */
export type NearBudget = BudgetUse & {
  readonly key: { readonly id: string; readonly name: string } | null;
  readonly team: { readonly id: string; readonly name: string } | null;
};

/** Key or team that has budgets, or the teams of a policy. */
type Owner = Pick<NearBudget, "key" | "team"> & { readonly budgets: readonly OwnedBudget[] };

/**
 * Reads the declared budgets of which 80 % or more are used in their present period, in the order of their names. Only
 * budgets that were reported to have reached that are found.
 *
 * @param now milliseconds since the epoch
 * @param limit maximum number of budgets
 */
export async function nearBudgets(db: Db, now: number, limit: number): Promise<readonly NearBudget[]> {
  const found: NearBudget[] = [];
  let after = "";
  // Most that were reported may be of keys that are revoked, or were raised since.
  while (found.length < limit) {
    const { rows } = await sql<{ budget: string }>`
      select distinct budget from budget_notices
      where percent >= ${NEAR_PERCENT} and (ends_at is null or ends_at > statement_timestamp()) and budget > ${after}
      order by budget limit ${limit}`.execute(db);
    const reported = rows.map(({ budget }) => budget);
    found.push(...(await nearOf(db, now, reported)));
    if (rows.length < limit) break;
    after = reported.at(-1) ?? "";
  }
  return found.slice(0, limit);
}

async function nearOf(db: Db, now: number, reported: readonly string[]): Promise<NearBudget[]> {
  const owners = await ownersOf(db, reported);
  const declared = owners.flatMap(({ budgets }) => budgets).filter(({ id }) => reported.includes(id));
  const near = (await readUses(db, declared, now)).filter(({ reached = 0 }) => reached >= NEAR_PERCENT);
  return near.flatMap((use) => {
    const owner = owners.find(({ budgets }) => budgets.includes(use.budget));
    return owner === undefined ? [] : [{ ...use, key: owner.key, team: owner.team }];
  });
}

/** Reads the active keys and teams that own these budgets, each with all of its budgets. */
async function ownersOf(db: Db, ids: readonly string[]): Promise<readonly Owner[]> {
  const named = ids.flatMap((id) => ownerOfBudget(id) ?? []);
  const ofKeys = named.filter((owner) => owner.of === "key");
  const teamIds = named.flatMap((owner) => (owner.of === "policy" ? [] : owner.teamId));
  const column = (of: (owner: (typeof ofKeys)[number]) => string): string[] => ofKeys.map(of);
  const { rows } = await sql<{
    keyId: string | null;
    keyName: string | null;
    teamId: string;
    team: string;
    budgets: KeyBudgets | null;
    limits: { readonly budgets?: readonly Budget[] } | null;
  }>`
    select null as "keyId", null as "keyName", id as "teamId", name as team, null::jsonb as budgets, limits
    from teams where state = 'active' and id = any(${teamIds}::text[])
    union all
    select * from (
      select distinct on (k.id) k.id, k.name, t.id, t.name, r.budgets, null::jsonb
      from unnest(${column(({ teamId }) => teamId)}::text[], ${column(({ cluster }) => cluster)}::text[],
        ${column(({ namespace }) => namespace)}::text[], ${column(({ name }) => name)}::text[])
        as named (team_id, cluster, namespace, name)
      join keys k on k.team_id = named.team_id and k.cluster = named.cluster and k.namespace = named.namespace
        and k.name = named.name and k.state = 'active'
      join key_records r on r.key_id = k.id and r.budgets is not null
      join teams t on t.id = k.team_id
    ) of_keys`.execute(db);
  const declared = rows.map(({ keyId, keyName, teamId, team, budgets, limits }) => ({
    key: keyId === null ? null : { id: keyId, name: keyName ?? keyId },
    team: { id: teamId, name: team },
    budgets: budgetsOf({ teamId, budgets: budgets ?? undefined, teamLimits: limits }),
  }));
  return [...declared, ...(await sharedOwners(db, named))];
}

/** Reads the budgets that teams share by these policies, once for all teams. */
async function sharedOwners(db: Db, named: readonly BudgetOwner[]): Promise<readonly Owner[]> {
  const owners = named.flatMap((owner) => (owner.of === "policy" ? policyOwner(owner.cluster, owner.name) : []));
  if (owners.length === 0) return [];
  const { rows } = await sql<{ shared: SharedBudgets }>`
    select distinct shared from teams, jsonb_array_elements(shared_budgets) shared
    where state = 'active' and shared ->> 'owner' = any(${owners}::text[])`.execute(db);
  return rows.map(({ shared }) => ({ key: null, team: null, budgets: budgetsOfPolicy(shared) }));
}
