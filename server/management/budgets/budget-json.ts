import type { Budget } from "../../../domain/budget/budget.ts";
import { budgetUnit, inUnit, mostOf } from "../../../domain/budget/budget-size.ts";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { BudgetUse } from "../../../store/budgets/read-budgets.ts";
import { closedObject, TIME_OR_NULL } from "../response-schemas.ts";

/** Limit and use of a budget in its present period, as the management API shows it. Amounts are in its unit. */
export type BudgetJson = {
  readonly limit: number;
  readonly unit: string;
  readonly period: Budget["period"];
  readonly timeZone: string;
  readonly onExhausted: Budget["onExhausted"];
  readonly used: number;
  readonly held: number;
  readonly lost: number;
  readonly reached: number | null;
  readonly beginsAnewAt: string | null;
  readonly sharedBy: string | null;
};

const AMOUNT = { type: "number" } as const;

export const BUDGETS = closedObject("Budgets", {
  items: {
    type: "array",
    items: closedObject("BudgetUse", {
      limit: AMOUNT,
      unit: { type: "string", description: "tokens, or a currency by ISO 4217." },
      period: { enum: ["Day", "Week", "Month", "Total"] },
      timeZone: { type: "string" },
      onExhausted: { enum: ["Refuse", "Alert"] },
      used: AMOUNT,
      held: { ...AMOUNT, description: "What calls under way may use, and what servers keep ready for the next ones." },
      lost: { ...AMOUNT, description: "Counts as used, since servers ended while they held it." },
      reached: {
        anyOf: [{ type: "integer", enum: [50, 80, 100] }, { type: "null" }],
        description: "The highest of these percentages that is used.",
      },
      beginsAnewAt: { ...TIME_OR_NULL, description: "Null for one that never does." },
      sharedBy: {
        type: ["string", "null"],
        description: "The PlatformKeyPolicy whose teams share it; null for one of the key's or the team's own.",
      },
    }),
  },
});

/** Budgets in the order of their declaration. */
export type BudgetsJson = { readonly items: readonly BudgetJson[] };

export function budgetsJson(uses: readonly BudgetUse[]): BudgetsJson {
  return {
    items: uses.map(({ budget, spent, unsettled, held, reached, endsAt }) => {
      const unit = budgetUnit(budget);
      const shown = (parts: number) => inUnit(unit, parts);
      return {
        ...{ limit: shown(mostOf(budget)), unit, period: budget.period },
        ...{ timeZone: budget.timeZone, onExhausted: budget.onExhausted },
        ...{ used: shown(spent), held: shown(held), lost: shown(unsettled), reached: reached ?? null },
        beginsAnewAt: Number.isFinite(endsAt) ? rfc3339(endsAt) : null,
        sharedBy: budget.policy ?? null,
      };
    }),
  };
}
