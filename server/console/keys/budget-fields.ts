import { flag, type Html, html } from "../../pages/html.ts";
import { chosenField, type FormErrors, labelled, textField } from "./key-form.ts";
import { BUDGET_KINDS, BUDGET_PERIODS, type TypedBudget } from "./typed-budget.ts";

const PERIODS = { none: "", offered: BUDGET_PERIODS, isMore: false };

/** A budget of a new key: how much, and when it begins anew, are asked for once there is to be one. */
export function budgetFields(fields: TypedBudget, errors: FormErrors): Html {
  const { budgetOf, budgetAmount, budgetCurrency, budgetPeriod } = fields;
  return html`${labelled(
    "budgetOf",
    "Budget",
    errors,
    (attributes) =>
      html`<select ${attributes}>${BUDGET_KINDS.map(
        ({ value, words }) =>
          html`<option value="${value}"${value !== "" && html` data-budget="${value}"`} ${flag("selected", value === budgetOf)}>${words}</option>`,
      )}</select>`,
    "Of calls of models: once it is used up, they are refused until it begins anew.",
  )}<div class="for-budget stack">${textField("budgetAmount", "Amount", budgetAmount, errors, "Such as 1000000 tokens, or a cost of 250.00.")}
<div class="for-cost">${textField("budgetCurrency", "Currency", budgetCurrency, errors, "That of the servers' price list, such as USD.")}</div>
${chosenField("budgetPeriod", "Begins anew", budgetPeriod, PERIODS, errors, "In UTC.")}</div>`;
}
