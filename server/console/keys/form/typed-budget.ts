import type { BudgetSpec } from "../../../../domain/budget/budget.ts";
import type { BudgetPeriod } from "../../../../domain/budget/period.ts";
import { type FormBody, field } from "../../../pages/forms.ts";
import { numeral } from "../../column-chart.ts";

/** Budget in the form of a key, as typed and unchecked. */
export type TypedBudget = {
  /** Unit that the budget counts; empty for no budget. */
  readonly budgetOf: "" | "tokens" | "cost";
  readonly budgetAmount: string;
  readonly budgetCurrency: string;
  readonly budgetPeriod: BudgetPeriod;
  /** Name of the budget that the form was opened with; empty for none. */
  readonly budgetWas: string;
};

export const NO_BUDGET: TypedBudget = {
  ...{ budgetOf: "", budgetAmount: "", budgetCurrency: "", budgetPeriod: "Month", budgetWas: "" },
};

export const BUDGET_KINDS = [
  { value: "", title: "None" },
  { value: "tokens", title: "Of tokens" },
  { value: "cost", title: "Of cost" },
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
    budgetWas: field(body, "budgetWas"),
  };
}

/**
 * Returns the first of a key's budgets as the form to edit it has it.
 *
 * @param currency currency that the form offers for a cost if the budget has none
 */
export function typedBudgetOf([first]: readonly BudgetSpec[], currency: string): TypedBudget {
  if (first === undefined) return { ...NO_BUDGET, budgetCurrency: currency };
  const { tokens, cost } = first;
  return {
    budgetOf: cost === undefined ? "tokens" : "cost",
    budgetAmount: cost ?? (tokens === undefined ? "" : numeral(tokens)),
    budgetCurrency: first.currency ?? currency,
    budgetPeriod: first.period,
    budgetWas: nameOf(first),
  };
}

/**
 * Splits a key's budgets into `own`, the budget that the form shows, and `others`, which it leaves as they are. `own`
 * is undefined if the form shows no stored budget. After the form was saved, `own` is the budget that it asked for.
 */
export function splitBudgets(fields: TypedBudget, stored: readonly BudgetSpec[]) {
  const { budgetOf, budgetPeriod, budgetWas } = fields;
  const [own] = [budgetWas, `${budgetOf} ${budgetPeriod}`].flatMap(
    (name) => stored.find((one) => nameOf(one) === name) ?? [],
  );
  return { own, others: stored.filter((one) => one !== own) };
}

/** Names a budget by its unit and period. A key has at most one budget of each name. */
function nameOf({ cost, period }: BudgetSpec): string {
  return `${cost === undefined ? "tokens" : "cost"} ${period}`;
}

/**
 * Returns the unchecked `budgets` that a form asks for; empty if it asks for none.
 *
 * @param stored budgets of the key: fields of a budget that the form does not show stay as they are
 */
export function budgetsTyped(fields: TypedBudget, stored: readonly BudgetSpec[]): Record<string, unknown> {
  const { own, others } = splitBudgets(fields, stored);
  const size = sizeTyped(fields);
  const {
    tokens: _tokens,
    cost: _cost,
    currency: _currency,
    ...kept
  } = own ?? { timeZone: "UTC", onExhausted: "Refuse" };
  const typed = size === undefined ? [] : [{ ...kept, ...size, period: fields.budgetPeriod }];
  const budgets = [...typed, ...others];
  return budgets.length === 0 ? {} : { budgets };
}

function sizeTyped({ budgetOf, budgetAmount, budgetCurrency: currency }: TypedBudget) {
  switch (budgetOf) {
    case "":
      return undefined;
    case "tokens": {
      // Digits with the commas that people put between thousands; the check of the spec refuses anything else.
      const digits = budgetAmount.replaceAll(",", "");
      return { tokens: /^\d{1,15}$/.test(digits) ? Number(digits) : budgetAmount };
    }
    case "cost":
      return { cost: budgetAmount, currency };
  }
}
