import type { BudgetSpec } from "../../../../domain/budget/budget.ts";
import type { BudgetPeriod } from "../../../../domain/budget/period.ts";
import { type FormBody, field } from "../../../pages/forms.ts";
import { numeral } from "../../column-chart.ts";

/** A budget as the form of a key has it: what was typed, whatever it is. */
export type TypedBudget = {
  /** What it counts; empty for no budget. */
  readonly budgetOf: "" | "tokens" | "cost";
  readonly budgetAmount: string;
  readonly budgetCurrency: string;
  readonly budgetPeriod: BudgetPeriod;
  /** Which of the key's budgets the form was opened with, by its name; empty for none. */
  readonly budgetWas: string;
};

export const NO_BUDGET: TypedBudget = {
  ...{ budgetOf: "", budgetAmount: "", budgetCurrency: "", budgetPeriod: "Month", budgetWas: "" },
};

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
    budgetWas: field(body, "budgetWas"),
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
    budgetAmount: cost ?? (tokens === undefined ? "" : numeral(tokens)),
    budgetCurrency: first.currency ?? currency,
    budgetPeriod: first.period,
    budgetWas: nameOf(first),
  };
}

/**
 * Of a key's budgets the one that a form is of, undefined where there is none, or none any more; and the others, which
 * it leaves as they are. Once it was saved, that is the one that it asks for.
 */
export function splitBudgets(fields: TypedBudget, stored: readonly BudgetSpec[]) {
  const { budgetOf, budgetPeriod, budgetWas } = fields;
  const [own] = [budgetWas, `${budgetOf} ${budgetPeriod}`].flatMap(
    (name) => stored.find((one) => nameOf(one) === name) ?? [],
  );
  return { own, others: stored.filter((one) => one !== own) };
}

/** A key has one budget of tokens and one of cost for each period at most. */
function nameOf({ cost, period }: BudgetSpec): string {
  return `${cost === undefined ? "tokens" : "cost"} ${period}`;
}

/**
 * The `budgets` that a form asks for, unchecked; nothing where it asks for none.
 *
 * @param stored of the key: of the one that the form is of it leaves what it does not show
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
      // Digits with the commas that people put between thousands; anything else is said to be no number.
      const digits = budgetAmount.replaceAll(",", "");
      return { tokens: /^\d{1,15}$/.test(digits) ? Number(digits) : budgetAmount };
    }
    case "cost":
      return { cost: budgetAmount, currency };
  }
}
