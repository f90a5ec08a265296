import type { BudgetPeriod } from "../../../domain/budget/period.ts";
import { type FormBody, field } from "../../pages/forms.ts";

/** A budget as the form to make a key has it: what was typed, whatever it is. */
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

/** The `budgets` that a form asks for, unchecked; nothing where it asks for none. */
export function budgetsTyped(fields: TypedBudget): Record<string, unknown> {
  const { budgetOf, budgetAmount, budgetCurrency: currency, budgetPeriod: period } = fields;
  switch (budgetOf) {
    case "":
      return {};
    case "tokens": {
      // Digits with the commas that people put between thousands; anything else is said to be no number.
      const digits = budgetAmount.replaceAll(",", "");
      return { budgets: [{ tokens: /^\d{1,15}$/.test(digits) ? Number(digits) : budgetAmount, period }] };
    }
    case "cost":
      return { budgets: [{ cost: budgetAmount, currency, period }] };
  }
}
