import { type BudgetSpec, budgetText, declareBudgets } from "../../../../domain/budget/budget.ts";
import { type Html, html } from "../../../pages/html.ts";
import { selectOf } from "./field-kinds.ts";
import { chosenField, type FormErrors, labelled, textField } from "./key-form.ts";
import { BUDGET_KINDS, BUDGET_PERIODS, splitBudgets, type TypedBudget } from "./typed-budget.ts";

const KINDS = BUDGET_KINDS.map((kind) => ({ ...kind, data: kind.value && html`data-budget="${kind.value}"` }));
const PERIODS = { none: "", offered: BUDGET_PERIODS, isMore: false };

/**
 * Renders the fields of a key's budget. Amount and period appear once a kind of budget is chosen.
 *
 * @param stored budgets of an existing key; the fields show one
 */
export function budgetFields(fields: TypedBudget, errors: FormErrors, stored: readonly BudgetSpec[] = []): Html {
  const { own, others } = splitBudgets(fields, stored);
  const { budgetOf, budgetAmount, budgetCurrency, budgetPeriod, budgetWas } = fields;
  return html`${budgetWas !== "" && html`<input type="hidden" name="budgetWas" value="${budgetWas}">`}${labelled(
    "budgetOf",
    errors,
    (attributes) => selectOf(attributes, KINDS, budgetOf),
    own?.onExhausted === "Alert"
      ? "Of calls of models: once it is used up, they pass, and it is reported."
      : "Of calls of models: once it is used up, they are refused until it resets.",
  )}<div class="for-budget stack">${textField("budgetAmount", budgetAmount, errors, "Such as 1,000,000 tokens, or a cost of 250.00.")}
<div class="for-cost">${textField("budgetCurrency", budgetCurrency, errors, "That of the servers' price list, such as USD.")}</div>
${chosenField("budgetPeriod", budgetPeriod, PERIODS, errors, `In ${own?.timeZone ?? "UTC"}.`)}</div>${
    others.length > 0 &&
    html`<p class="hint">Beside it the key has ${(declareBudgets(others) ?? []).map(budgetText).join("; ")}: what is saved here leaves that as it is.</p>`
  }`;
}
