import type { BudgetPeriod } from "./period.ts";

/** What happens to a call that a budget has no room for: it is refused, or passes and is counted. */
type OnExhausted = "Refuse" | "Alert";

/** A budget as it is declared, its defaults filled in. */
export type Budget = {
  /** What may be used in a period. */
  readonly tokens: number;
  readonly period: BudgetPeriod;
  /** Where the period begins: an IANA name. */
  readonly timeZone: string;
  readonly onExhausted: OnExhausted;
};

/** `budgets` as it is written. */
export type BudgetSpec = {
  readonly tokens: number;
  readonly period: BudgetPeriod;
  readonly timeZone?: string;
  readonly onExhausted?: OnExhausted;
};

/** The budgets of a key, and as whose they are counted, which outlasts the key. */
export type KeyBudgets = { readonly owner: string; readonly items: readonly Budget[] };

/** A budget that a call is held to. */
export type OwnedBudget = Budget & {
  /** The same for as long as the owner's name and the period are. */
  readonly id: string;
  readonly of: "key" | "team";
};

/** What says which budgets a call is held to: the record of its key. */
type Budgeted = {
  readonly teamId: string;
  readonly budgets?: KeyBudgets | undefined;
  readonly teamLimits: { readonly budgets?: readonly Budget[] } | null;
};

/** Reads valid `budgets`, their defaults filled in; null for none. */
export function declareBudgets(specs: readonly BudgetSpec[] | undefined): readonly Budget[] | null {
  if (specs === undefined || specs.length === 0) return null;
  return specs.map(({ tokens, period, timeZone = "UTC", onExhausted = "Refuse" }) => ({
    ...{ tokens, period, timeZone, onExhausted },
  }));
}

/** Whether a call of a key is held to a budget. */
export function hasBudget({ budgets, teamLimits }: Omit<Budgeted, "teamId">): boolean {
  return budgets !== undefined || teamLimits?.budgets !== undefined;
}

/** The budgets that a call of a key is held to: its own before its team's. */
export function budgetsOf({ budgets, teamLimits, teamId }: Budgeted): OwnedBudget[] {
  const owned = (of: OwnedBudget["of"], owner: string, items: readonly Budget[]): OwnedBudget[] =>
    items.map((item) => ({ ...item, of, id: `${of} ${owner} tokens ${item.period}` }));
  return [
    ...(budgets === undefined ? [] : owned("key", budgets.owner, budgets.items)),
    ...owned("team", teamId, teamLimits?.budgets ?? []),
  ];
}

/** A budget as people read it, such as `5000000 tokens a month (Europe/Berlin), refuses`. */
export function budgetText(budget: Budget): string {
  return `${budgetSize(budget)}, ${budget.onExhausted === "Refuse" ? "refuses" : "alerts"}`;
}

/** How much a budget has, such as `5000000 tokens a month (Europe/Berlin)`. */
export function budgetSize({ tokens, period, timeZone }: Budget): string {
  const [every, zone] = period === "Total" ? ["in all", ""] : [`a ${period.toLowerCase()}`, ` (${timeZone})`];
  return `${tokens} tokens ${every}${zone}`;
}

/** Whether each budget that refuses is kept by one that is no larger. */
export function areBudgetsKept(after: readonly Budget[] | null, before: readonly Budget[] | null): boolean {
  return (before ?? []).every(
    ({ onExhausted, tokens, period, timeZone }) =>
      onExhausted === "Alert" ||
      after?.some(
        (one) =>
          one.onExhausted === "Refuse" &&
          one.period === period &&
          one.tokens <= tokens &&
          (period === "Total" || one.timeZone === timeZone),
      ) === true,
  );
}
