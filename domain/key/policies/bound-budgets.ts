/** Budgets that policies ask of a key: a refusing budget for each unit and period, no larger than the policies'. */
import { type Budget, type BudgetSpec, declareBudgets, withSize } from "../../budget/budget.ts";
import { budgetUnit, mostOf, sizeOf } from "../../budget/budget-size.ts";
import { boundValue } from "./bounds.ts";

type Budgets = readonly Budget[] | null;
type Asking = { readonly budgets: readonly Budget[] };

/** Returns the unit and period of a budget: a key has one budget of each such kind at most. */
const kindOf = (budget: Budget): string => `${budgetUnit(budget)} ${budget.period}`;

/** Returns the budget of the same kind that refuses calls; undefined if there is none, and thus no limit. */
export function refusingOf(budgets: Budgets, like: Budget): Budget | undefined {
  return budgets?.find((budget) => budget.onExhausted === "Refuse" && kindOf(budget) === kindOf(like));
}

/** Parses a policy's valid `budgets` into the stored form of a key's budgets: `1.5` and `1.50` become equal. */
export function declarePolicyBudgets(specs: readonly BudgetSpec[] | undefined): readonly Budget[] {
  const budgets = declareBudgets(specs) ?? [];
  return budgets.map((budget) => withSize(budget, sizeOf(budgetUnit(budget), mostOf(budget))));
}

/** True if a key asks for more than before of what a policy bounds; its other budgets do not count. */
export function asksForMore(asked: Budgets, had: Budgets, rules: readonly Budget[]): boolean {
  const most = (budgets: Budgets, rule: Budget) => amountOf(refusingOf(budgets, rule)) ?? Number.POSITIVE_INFINITY;
  return rules.some((rule) => most(asked, rule) > most(had, rule));
}

/** Returns the smallest budget of each kind among those of several policies. */
export function smallestBudgets(policies: readonly Asking[]): Budget[] {
  const all = policies.flatMap(({ budgets }) => budgets);
  return [...Map.groupBy(all, kindOf).values()].flatMap((alike) =>
    alike.toSorted((a, b) => mostOf(a) - mostOf(b)).slice(0, 1),
  );
}

/** Returns a key's budgets, with those of its policies for each kind of which it has none that refuses calls. */
export function withPolicyBudgets(budgets: Budgets, policies: readonly Asking[]): Budgets {
  const given = smallestBudgets(policies).filter((one) => refusingOf(budgets, one) === undefined);
  return given.reduce<Budgets>(withBudget, budgets);
}

/**
 * Returns the budgets that hold for a key that was issued before its policies' rules.
 *
 * @param asked budgets that the key declares
 * @param has budgets that hold for it now
 * @param due the policies, each without the budgets whose grace period is not over
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

/** Returns the amount of a budget in parts of its unit; null for no budget. */
function amountOf(budget: Budget | undefined): number | null {
  return budget === undefined ? null : mostOf(budget);
}

/** Returns the budgets with this one instead of those of its kind. */
function withBudget(budgets: Budgets, budget: Budget): Budgets {
  return [...(budgets ?? []).filter((one) => kindOf(one) !== kindOf(budget)), budget];
}
