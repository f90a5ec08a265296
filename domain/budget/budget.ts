import { type BudgetSize, budgetUnit, mostOf, sizeText } from "./budget-size.ts";
import type { BudgetPeriod } from "./period.ts";

/** Action on a call that exceeds a budget: it is refused, or passes and is counted. */
type OnExhausted = "Refuse" | "Alert";

/** A budget as it is declared, with its defaults filled in. */
export type Budget = BudgetSize & {
  readonly period: BudgetPeriod;
  /** IANA name of the time zone in which the period begins. */
  readonly timeZone: string;
  readonly onExhausted: OnExhausted;
};

/** `budgets` of a spec. */
export type BudgetSpec = {
  readonly tokens?: number;
  readonly cost?: string;
  readonly currency?: string;
  readonly period: BudgetPeriod;
  readonly timeZone?: string;
  readonly onExhausted?: OnExhausted;
};

/** Budgets that keys of several teams share. They count under an owner, `CLUSTER/POLICY`, that outlasts the policy. */
export type SharedBudgets = { readonly owner: string; readonly items: readonly Budget[] };

/** Team and declared name of a key. */
export type KeyPlace = {
  readonly teamId: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
};

/** Budgets of a key. They are counted under the owner, which outlasts the key. */
export type KeyBudgets = { readonly owner: string; readonly items: readonly Budget[] };

/** A budget that applies to a call. */
export type OwnedBudget = Budget & {
  /** Id of the budget, which stays for as long as the owner's name and the period stay. */
  readonly id: string;
  readonly of: "key" | "team" | "policy";
  /** Name of the PlatformKeyPolicy whose teams share it; undefined for a key's and a team's own. */
  readonly policy?: string;
};

/** Members of a key's record that determine which budgets apply to a call. */
type Budgeted = {
  readonly teamId: string;
  readonly budgets?: KeyBudgets | undefined;
  readonly teamLimits: TeamBudgets | null;
};

/** Budgets among the limits of a team. */
type TeamBudgets = { readonly budgets?: readonly Budget[]; readonly shared?: readonly SharedBudgets[] };

/** Parses valid `budgets`, with their defaults filled in; null for none. */
export function declareBudgets(specs: readonly BudgetSpec[] | undefined): readonly Budget[] | null {
  if (specs === undefined || specs.length === 0) return null;
  return specs.map(({ tokens = 0, cost, currency = "", period, timeZone = "UTC", onExhausted = "Refuse" }) => ({
    ...(cost === undefined ? { tokens } : { cost, currency }),
    ...{ period, timeZone, onExhausted },
  }));
}

/** Returns a budget with another size. */
export function withSize({ period, timeZone, onExhausted }: Budget, size: BudgetSize): Budget {
  return { ...size, period, timeZone, onExhausted };
}

/** True if a budget that counts costs applies to a call of a key, so that the call's model has to be known. */
export function hasCostBudget({ budgets, teamLimits }: Omit<Budgeted, "teamId">): boolean {
  return (
    countCost(budgets?.items) ||
    countCost(teamLimits?.budgets) ||
    teamLimits?.shared?.some(({ items }) => countCost(items)) === true
  );
}

function countCost(budgets: readonly Budget[] | undefined): boolean {
  return budgets?.some((budget) => "cost" in budget) === true;
}

/** True if a budget applies to a call of a key. */
export function hasBudget({ budgets, teamLimits }: Omit<Budgeted, "teamId">): boolean {
  return budgets !== undefined || teamLimits?.budgets !== undefined || teamLimits?.shared !== undefined;
}

/** Returns the budgets that apply to a call of a key: its own first, then its team's, then those that teams share. */
export function budgetsOf({ budgets, teamLimits, teamId }: Budgeted): OwnedBudget[] {
  const ofKey = budgets === undefined ? [] : owned("key", budgets.owner, budgets.items);
  if (teamLimits === null) return ofKey;
  return ofKey.concat(
    owned("team", teamId, teamLimits.budgets ?? []),
    (teamLimits.shared ?? []).flatMap(budgetsOfPolicy),
  );
}

/** Returns the owner under which the budgets of a key are counted, as the view `key_records` has it. */
export function keyOwner(key: KeyPlace): string {
  return `${key.teamId} ${key.cluster}/${key.namespace}/${key.name}`;
}

/** Returns the owner under which the shared budgets of a policy are counted. */
export function policyOwner(cluster: string, policy: string): string {
  return `${cluster}/${policy}`;
}

/** Returns the budgets that the keys of a policy's teams share. */
export function budgetsOfPolicy({ owner, items }: SharedBudgets): OwnedBudget[] {
  const policy = owner.slice(owner.indexOf("/") + 1);
  return owned("policy", owner, items).map((budget) => ({ ...budget, policy }));
}

function owned(of: OwnedBudget["of"], owner: string, items: readonly Budget[]): OwnedBudget[] {
  return items.map((item) => ({ ...item, of, id: `${of} ${owner} ${budgetUnit(item)} ${item.period}` }));
}

/** Formats a budget for people, such as `5,000,000 tokens a month (Europe/Berlin), refuses`. */
export function budgetText(budget: Budget): string {
  return `${budgetSize(budget)}, ${budget.onExhausted === "Refuse" ? "refuses" : "alerts"}`;
}

/** Formats the size of a budget, such as `5,000,000 tokens a month (Europe/Berlin)` or `250.00 USD in all`. */
export function budgetSize(budget: Budget): string {
  return `${sizeText(budget)} ${budgetPeriod(budget)}`;
}

/** Formats the period of a budget, such as `a month (Europe/Berlin)` or `in all`. */
export function budgetPeriod({ period, timeZone }: Pick<Budget, "period" | "timeZone">): string {
  return period === "Total" ? "in all" : `a ${period.toLowerCase()} (${timeZone})`;
}

/** True if for each budget that refuses calls there still is such a budget, no larger. */
export function areBudgetsKept(after: readonly Budget[] | null, before: readonly Budget[] | null): boolean {
  return (before ?? []).every(
    (kept) =>
      kept.onExhausted === "Alert" ||
      after?.some(
        (one) =>
          one.onExhausted === "Refuse" &&
          one.period === kept.period &&
          budgetUnit(one) === budgetUnit(kept) &&
          mostOf(one) <= mostOf(kept) &&
          (one.period === "Total" || one.timeZone === kept.timeZone),
      ) === true,
  );
}
