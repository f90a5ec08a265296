import { type BudgetSpec, budgetText, declareBudgets } from "../../domain/budget/budget.ts";
import type { BudgetJson } from "../../server/management/budgets/budget-json.ts";

/**
 * Budgets as people read them, a line for each; undefined where there are none.
 *
 * @param uses how far they are used; undefined where that is not known, and what is declared is shown alone
 */
export function budgetTexts(
  declared: readonly BudgetSpec[] | undefined,
  uses: readonly BudgetJson[] | undefined,
): string[] | undefined {
  if (uses === undefined) return declareBudgets(declared)?.map(budgetText);
  return uses.length === 0 ? undefined : uses.map(useText);
}

function useText({ limit, period, timeZone, onExhausted, used, held, lost, beginsAnewAt }: BudgetJson): string {
  const amounts = [
    `${used} used (${Math.floor((100 * used) / limit)} %)`,
    ...(held > 0 ? [`${held} held by servers`] : []),
    ...(lost > 0 ? [`${lost} lost with servers that ended`] : []),
  ];
  const anew = beginsAnewAt === null ? "" : `; begins anew at ${beginsAnewAt}`;
  return `${budgetText({ tokens: limit, period, timeZone, onExhausted })}: ${amounts.join(", ")}${anew}`;
}
