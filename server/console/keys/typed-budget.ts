import type { BudgetSpec } from "../../../domain/budget/budget.ts";
import type { BudgetPeriod } from "../../../domain/budget/period.ts";
import { type FormBody, field } from "../../pages/forms.ts";

/** A budget as the form of a key has it: what was typed, whatever it is. */
export type TypedBudget = {
  /** What it counts; empty for no budget. */
  readonly budgetOf: "" | "tokens" | "cost";
  readonly budgetAmount: string;
  readonly budgetCurrency: string;
  readonly budgetPeriod: BudgetPeriod;
};

export const NO_BUDGET: TypedBudget = { budgetOf: "", budgetAmount: "", budgetCurrency: "", budgetPeriod: "Month" };

export const BUDGET_KINDS = [
  { value: "", words: "None" },
  { value: "tokens", words: "Of tokens" },
  { value: "cost", words: "Of cost" },
] as const;
export const BUDGET_PERIODS = [
  { value: "Day", title: "Each day" },
  { value: "Week", title: "Each week, on Monday" },
  { value: "Month", title: "Each month, on its first day" },
  { value: "Total", title: "Never" },
] as const satisfies readonly { value: BudgetPeriod; title: string }[];

export function readBudget(body: FormBody): TypedBudget {
  const [kind, period] = [field(body, "budgetOf"), field(body, "budgetPeriod")];
  return {
    budgetOf: BUDGET_KINDS.find(({ value }) => value === kind)?.value ?? NO_BUDGET.budgetOf,
    budgetAmount: field(body, "budgetAmount"),
    budgetCurrency: field(body, "budgetCurrency"),
    budgetPeriod: BUDGET_PERIODS.find(({ value }) => value === period)?.value ?? NO_BUDGET.budgetPeriod,
  };
}

/**
 * The first of a key's budgets, as the form to edit it has it.
 *
 * @param currency what a cost is in where there is none yet
 */
export function typedBudgetOf([first]: readonly BudgetSpec[], currency: string): TypedBudget {
  if (first === undefined) return { ...NO_BUDGET, budgetCurrency: currency };
  const { tokens, cost } = first;
  return {
    budgetOf: cost === undefined ? "tokens" : "cost",
    budgetAmount: cost ?? String(tokens ?? ""),
    budgetCurrency: first.currency ?? currency,
    budgetPeriod: first.period,
  };
}

/**
 * The `budgets` that a form asks for, unchecked; nothing where it asks for none.
 *
 * @param stored of the key: the form is of the first of them, of which it leaves what it does not show
 */
export function budgetsTyped(fields: TypedBudget, stored: readonly BudgetSpec[]): Record<string, unknown> {
  const [first, ...others] = stored;
  const size = sizeTyped(fields);
  const { timeZone = "UTC", onExhausted = "Refuse" } = first ?? {};
  const typed = size === undefined ? [] : [{ ...size, period: fields.budgetPeriod, timeZone, onExhausted }];
  const budgets = [...typed, ...others];
  return budgets.length === 0 ? {} : { budgets };
}

function sizeTyped({ budgetOf, budgetAmount, budgetCurrency: currency }: TypedBudget) {
  switch (budgetOf) {
    case "":
      return undefined;
    case "tokens": {
      // Digits with the commas that people put between thousands; anything else is said to be no number.
      const digits = budgetAmount.replaceAll(",", "");
      return { tokens: /^\d{1,15}$/.test(digits) ? Number(digits) : budgetAmount };
    }
    case "cost":
      return { cost: budgetAmount, currency };
  }
}
