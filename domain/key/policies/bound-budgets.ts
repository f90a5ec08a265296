/** The budgets that policies ask of a key: of each unit and period one that refuses, no larger than they say. */
import { type Budget, type BudgetSpec, declareBudgets, withSize } from "../../budget/budget.ts";
import { budgetUnit, mostOf, sizeOf } from "../../budget/budget-size.ts";
import { boundValue } from "./bounds.ts";

type Budgets = readonly Budget[] | null;
type Asking = { readonly budgets: readonly Budget[] };

/** What a budget is one of: a key has one of each at most. */
const kindOf = (budget: Budget): string => `${budgetUnit(budget)} ${budget.period}`;

/** The budget of the same kind that refuses; undefined where a key has none, so that it may use any amount. */
export function refusingOf(budgets: Budgets, like: Budget): Budget | undefined {
  return budgets?.find((budget) => budget.onExhausted === "Refuse" && kindOf(budget) === kindOf(like));
}

/** Reads a policy's valid `budgets` as they are stored where they bound a key's: `1.5` and `1.50` are one. */
export function declarePolicyBudgets(specs: readonly BudgetSpec[] | undefined): readonly Budget[] {
  const budgets = declareBudgets(specs) ?? [];
  return budgets.map((budget) => withSize(budget, sizeOf(budgetUnit(budget), mostOf(budget))));
}

/** Whether a key asks for more of what a policy bounds than it did; its other budgets are no matter of that. */
export function asksForMore(asked: Budgets, had: Budgets, rules: readonly Budget[]): boolean {
  const most = (budgets: Budgets, rule: Budget) => amountOf(refusingOf(budgets, rule)) ?? Number.POSITIVE_INFINITY;
  return rules.some((rule) => most(asked, rule) > most(had, rule));
}

/** Of the budgets of several policies the smallest of each kind. */
export function smallestBudgets(policies: readonly Asking[]): Budget[] {
  const all = policies.flatMap(({ budgets }) => budgets);
  return [...Map.groupBy(all, kindOf).values()].flatMap((alike) =>
    alike.toSorted((a, b) => mostOf(a) - mostOf(b)).slice(0, 1),
  );
}

/** A key's budgets, with those of its policies where it has none of the kind that refuses. */
export function withPolicyBudgets(budgets: Budgets, policies: readonly Asking[]): Budgets {
  const given = smallestBudgets(policies).filter((one) => refusingOf(budgets, one) === undefined);
  return given.reduce<Budgets>(withBudget, budgets);
}

/**
 * The budgets that hold of a key that was issued before its policies' rules.
 *
 * @param asked what the key declares
 * @param has what holds of it now
 * @param due the policies without the budgets whose grace period is not over
 */
export function boundBudgets(
  { asked, has }: { readonly asked: Budgets; readonly has: Budgets },
  policies: readonly Asking[],
  due: readonly Asking[],
): Budgets {
  const dueBudgets = smallestBudgets(due);
  return smallestBudgets(policies).reduce<Budgets>((budgets, rule) => {
    const own = refusingOf(asked, rule);
    const [most, dueMost] = [mostOf(rule), amountOf(refusingOf(dueBudgets, rule))];
    const bound = boundValue(
      { asked: amountOf(own), has: amountOf(refusingOf(has, rule)), undeclared: null },
      { given: most, max: most },
      { given: dueMost, max: dueMost },
    );
    if (bound === null || bound === amountOf(own)) return budgets;
    return withBudget(budgets, withSize(own ?? rule, sizeOf(budgetUnit(rule), bound)));
  }, asked);
}

/** In parts of its unit; null for none. */
function amountOf(budget: Budget | undefined): number | null {
  return budget === undefined ? null : mostOf(budget);
}

/** Budgets with this one in the place of those of its kind. */
function withBudget(budgets: Budgets, budget: Budget): Budgets {
  return [...(budgets ?? []).filter((one) => kindOf(one) !== kindOf(budget)), budget];
}
