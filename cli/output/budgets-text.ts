import { type BudgetSpec, budgetText, declareBudgets } from "../../domain/budget/budget.ts";
import { partsIn, partsText, sizeOf } from "../../domain/budget/budget-size.ts";
import type { BudgetJson } from "../../server/management/budgets/budget-json.ts";

/**
 * Formats budgets, a line for each; undefined if there are none.
 *
 * @param uses how far they are used; undefined if that is not known, and only the declared budgets are shown
 */
export function budgetTexts(
  declared: readonly BudgetSpec[] | undefined,
  uses: readonly BudgetJson[] | undefined,
): string[] | undefined {
  if (uses === undefined) return declareBudgets(declared)?.map(budgetText);
  return uses.length === 0 ? undefined : uses.map(useText);
}

function useText({
  limit,
  unit,
  period,
  timeZone,
  onExhausted,
  used,
  held,
  lost,
  beginsAnewAt,
  sharedBy,
}: BudgetJson): string {
  const shown = (amount: number) => partsText(unit, partsIn(unit, amount));
  const amounts = [
    `${shown(used)} used (${Math.floor((100 * used) / limit)} %)`,
    ...(held > 0 ? [`${shown(held)} held by servers`] : []),
    ...(lost > 0 ? [`${shown(lost)} lost with servers that ended`] : []),
  ];
  const anew = beginsAnewAt === null ? "" : `; resets at ${beginsAnewAt}`;
  const budget = { ...sizeOf(unit, partsIn(unit, limit)), period, timeZone, onExhausted };
  // A server of an earlier build does not name it.
  const shared = sharedBy == null ? "" : `, shared by PlatformKeyPolicy ${sharedBy}`;
  return `${budgetText(budget)}${shared}: ${amounts.join(", ")}${anew}`;
}
