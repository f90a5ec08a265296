import { sql } from "kysely";
import {
  type Budget,
  budgetsOf,
  type KeyBudgets,
  type OwnedBudget,
  type SharedBudgets,
} from "../../domain/budget/budget.ts";
import { mostOf } from "../../domain/budget/budget-size.ts";
import { periodAt } from "../../domain/budget/period.ts";
import { asThreshold, higherThreshold, reachedThreshold, type Threshold } from "../../domain/budget/threshold.ts";
import type { Db } from "../database/change.ts";

/** Time after which a thread's line counts as silent: a running thread writes its line again within ten minutes. */
export const SILENT = sql`interval '15 minutes'`;

/** Use of a budget in its present period. Amounts are parts of its unit. */
export type BudgetUse = {
  readonly budget: OwnedBudget;
  readonly spent: number;
  /** Amount that counts as used because the threads that held it ended without giving it back. */
  readonly unsettled: number;
  /** Amount that calls in progress may use, and that threads keep ready for the next calls. */
  readonly held: number;
  /** Highest threshold reached, or reported for this size of the budget; undefined below the first threshold. */
  readonly reached: Threshold | undefined;
  /** Milliseconds since the epoch; Infinity for a budget that never resets. */
  readonly endsAt: number;
};

type BudgetOwner = { readonly id: string; readonly budgets: readonly OwnedBudget[] };
/** Uses of budgets by the ids of the keys or teams that own them. */
export type UsesByOwner = ReadonlyMap<string, readonly BudgetUse[]>;

/** Team with its budgets: those among its limits, and those that it shares. */
type LimitedTeam = {
  readonly id: string;
  readonly limits: { readonly budgets?: readonly Budget[] } | null;
  readonly sharedBudgets?: readonly SharedBudgets[] | null;
};

/** Reads a key's own budgets; empty for a key without budgets. */
export async function budgetsOfKey(db: Db, keyId: string): Promise<readonly OwnedBudget[]> {
  return (await budgetsOfKeys(db, [keyId])).flatMap(({ budgets }) => budgets);
}

/** Reads the budgets of the keys that have any. */
async function budgetsOfKeys(db: Db, keyIds: readonly string[]): Promise<BudgetOwner[]> {
  const { rows } = await sql<{ id: string; team_id: string; budgets: KeyBudgets }>`
    select distinct on (key_id) key_id as id, team_id, budgets from key_records
    where key_id = any(${keyIds}::text[]) and budgets is not null`.execute(db);
  return rows.map(({ id, team_id: teamId, budgets }) => ({
    id,
    budgets: budgetsOf({ teamId, budgets, teamLimits: null }),
  }));
}

/** Returns a team's budgets, followed by the budgets that it shares with other teams. */
export function budgetsOfTeam({ id: teamId, limits, sharedBudgets: shared }: LimitedTeam): readonly OwnedBudget[] {
  return budgetsOf({ teamId, teamLimits: { ...limits, ...(shared && { shared }) } });
}

/**
 * Reads the present use of a key's own budgets; empty for a key without budgets.
 *
 * @param now milliseconds since the epoch
 */
export async function readKeyBudgets(db: Db, keyId: string, now: number): Promise<readonly BudgetUse[]> {
  return readUses(db, await budgetsOfKey(db, keyId), now);
}

/** Reads the present use of a team's budgets. */
export function readTeamBudgets(db: Db, team: LimitedTeam, now: number): Promise<readonly BudgetUse[]> {
  return readUses(db, budgetsOfTeam(team), now);
}

/** Reads the present use of the budgets of several keys. Keys without budgets are left out. */
export async function readBudgetsOfKeys(db: Db, keyIds: readonly string[], now: number): Promise<UsesByOwner> {
  return keyIds.length === 0 ? new Map() : readByOwner(db, await budgetsOfKeys(db, keyIds), now);
}

/** Reads the present use of the budgets of several teams. */
export function readBudgetsOfTeams(db: Db, teams: readonly LimitedTeam[], now: number): Promise<UsesByOwner> {
  return readByOwner(
    db,
    teams.map((team) => ({ id: team.id, budgets: budgetsOfTeam(team) })),
    now,
  );
}

/** Reads the uses of the owners' budgets. A budget that several teams share is read once. */
async function readByOwner(db: Db, owners: readonly BudgetOwner[], now: number): Promise<UsesByOwner> {
  const distinct = new Map(owners.flatMap(({ budgets }) => budgets.map((budget) => [budget.id, budget] as const)));
  const uses = new Map((await readUses(db, [...distinct.values()], now)).map((use) => [use.budget.id, use]));
  return new Map(owners.map(({ id, budgets }) => [id, budgets.flatMap((budget) => uses.get(budget.id) ?? [])]));
}

/** Reads the present use of budgets, in their order. */
export async function readUses(db: Db, budgets: readonly OwnedBudget[], now: number): Promise<readonly BudgetUse[]> {
  if (budgets.length === 0) return [];
  const periods = budgets.map(({ period, timeZone }) => periodAt(period, timeZone, now));
  const column = <T>(of: (budget: OwnedBudget) => T): T[] => budgets.map(of);
  const { rows } = await sql<{
    budget: string;
    spent: number;
    unsettled: number;
    held: number;
    percent: number | null;
  }>`
    select asked.budget, coalesce(sum(spent), 0)::float8 as spent,
      coalesce(sum(held) filter (where written_at < clock_timestamp() - ${SILENT}), 0)::float8 as unsettled,
      coalesce(sum(held) filter (where written_at >= clock_timestamp() - ${SILENT}), 0)::float8 as held,
      (select max(percent) from budget_notices n
        where n.budget = asked.budget and n.period = asked.period and n.most = asked.most) as percent
    from unnest(${column(({ id }) => id)}::text[], ${periods.map(({ name }) => name)}::text[],
      ${column(mostOf)}::bigint[]) as asked (budget, period, most)
    left join budget_ledger line on line.budget = asked.budget and line.period = asked.period
    group by asked.budget, asked.period, asked.most`.execute(db);
  return budgets.map((budget, index) => {
    const { spent = 0, unsettled = 0, held = 0, percent = null } = rows.find((row) => row.budget === budget.id) ?? {};
    const byUse = reachedThreshold({ limit: mostOf(budget), used: spent + unsettled, hasRefused: false });
    const reached = higherThreshold(byUse, asThreshold(percent));
    return { budget, spent, unsettled, held, reached, endsAt: periods[index]?.endsAt ?? Number.POSITIVE_INFINITY };
  });
}
