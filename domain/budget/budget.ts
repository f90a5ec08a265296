import { type BudgetSize, budgetUnit, mostOf, sizeText } from "./budget-size.ts";
import type { BudgetPeriod } from "./period.ts";

/** What happens to a call that a budget has no room for: it is refused, or passes and is counted. */
type OnExhausted = "Refuse" | "Alert";

/** A budget as it is declared, its defaults filled in. */
export type Budget = BudgetSize & {
  readonly period: BudgetPeriod;
  /** Where the period begins: an IANA name. */
  readonly timeZone: string;
  readonly onExhausted: OnExhausted;
};

/** `budgets` as it is written. */
export type BudgetSpec = {
  readonly tokens?: number;
  readonly cost?: string;
  readonly currency?: string;
  readonly period: BudgetPeriod;
  readonly timeZone?: string;
  readonly onExhausted?: OnExhausted;
};

/** Budgets that the keys of several teams share: as whose they are counted, `CLUSTER/POLICY`, which outlasts the policy. */
export type SharedBudgets = { readonly owner: string; readonly items: readonly Budget[] };

/** The budgets of a key, and as whose they are counted, which outlasts the key. */
export type KeyBudgets = { readonly owner: string; readonly items: readonly Budget[] };

/** A budget that a call is held to. */
export type OwnedBudget = Budget & {
  /** The same for as long as the owner's name and the period are. */
  readonly id: string;
  readonly of: "key" | "team" | "policy";
  /** The PlatformKeyPolicy whose teams share it; undefined for a key's and a team's own. */
  readonly policy?: string;
};

/** What says which budgets a call is held to: the record of its key. */
type Budgeted = {
  readonly teamId: string;
  readonly budgets?: KeyBudgets | undefined;
  readonly teamLimits: TeamBudgets | null;
};

/** What the limits of a team say of budgets. */
type TeamBudgets = { readonly budgets?: readonly Budget[]; readonly shared?: readonly SharedBudgets[] };

/** Reads valid `budgets`, their defaults filled in; null for none. */
export function declareBudgets(specs: readonly BudgetSpec[] | undefined): readonly Budget[] | null {
  if (specs === undefined || specs.length === 0) return null;
  return specs.map(({ tokens = 0, cost, currency = "", period, timeZone = "UTC", onExhausted = "Refuse" }) => ({
    ...(cost === undefined ? { tokens } : { cost, currency }),
    ...{ period, timeZone, onExhausted },
  }));
}

/** A budget of another size. */
export function withSize({ period, timeZone, onExhausted }: Budget, size: BudgetSize): Budget {
  return { ...size, period, timeZone, onExhausted };
}

/** Whether a call of a key is held to a budget that counts what it costs, so that its model has to be known. */
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

/** Whether a call of a key is held to a budget. */
export function hasBudget({ budgets, teamLimits }: Omit<Budgeted, "teamId">): boolean {
  return budgets !== undefined || teamLimits?.budgets !== undefined || teamLimits?.shared !== undefined;
}

/** The budgets that a call of a key is held to: its own before its team's, and those before what teams share. */
export function budgetsOf({ budgets, teamLimits, teamId }: Budgeted): OwnedBudget[] {
  return [
    ...(budgets === undefined ? [] : owned("key", budgets.owner, budgets.items)),
    ...owned("team", teamId, teamLimits?.budgets ?? []),
    ...(teamLimits?.shared ?? []).flatMap(budgetsOfPolicy),
  ];
}

/** As whose the shared budgets of a policy are counted. */
export function policyOwner(cluster: string, policy: string): string {
  return `${cluster}/${policy}`;
}

/** The budgets that the keys of a policy's teams share. */
export function budgetsOfPolicy({ owner, items }: SharedBudgets): OwnedBudget[] {
  const policy = owner.slice(owner.indexOf("/") + 1);
  return owned("policy", owner, items).map((budget) => ({ ...budget, policy }));
}

function owned(of: OwnedBudget["of"], owner: string, items: readonly Budget[]): OwnedBudget[] {
  return items.map((item) => ({ ...item, of, id: `${of} ${owner} ${budgetUnit(item)} ${item.period}` }));
}

/** A budget as people read it, such as `5,000,000 tokens a month (Europe/Berlin), refuses`. */
export function budgetText(budget: Budget): string {
  return `${budgetSize(budget)}, ${budget.onExhausted === "Refuse" ? "refuses" : "alerts"}`;
}

/** How much a budget has, such as `5,000,000 tokens a month (Europe/Berlin)` or `250.00 USD in all`. */
export function budgetSize(budget: Budget): string {
  return `${sizeText(budget)} ${budgetPeriod(budget)}`;
}

/** For how long a budget is, such as `a month (Europe/Berlin)` or `in all`. */
export function budgetPeriod({ period, timeZone }: Pick<Budget, "period" | "timeZone">): string {
  return period === "Total" ? "in all" : `a ${period.toLowerCase()} (${timeZone})`;
}

/** Whether each budget that refuses is kept by one that is no larger. */
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
