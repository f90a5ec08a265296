import { budgetText } from "../../domain/budget/budget.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { BudgetUse } from "../../store/budgets/read-budgets.ts";
import { type Html, html } from "../pages/html.ts";
import { moment } from "./times.ts";

/**
 * What budgets have and have used, for people, a line for each.
 *
 * @param now milliseconds since the epoch
 */
export function shownBudgets(uses: readonly BudgetUse[], now: number): Html[] {
  return uses.map(({ budget, spent, unsettled, endsAt }) => {
    const percent = Math.floor((100 * spent) / budget.tokens);
    const lost =
      unsettled === 0 ? "" : `, and ${counted(unsettled)} that count as used since servers ended while holding them`;
    const anew = Number.isFinite(endsAt) ? html`; begins anew ${moment(rfc3339Millis(endsAt), now)}` : "";
    return html`<span class="line">${budgetText(budget)}: ${counted(spent)} used (${percent} %)${lost}${anew}</span>`;
  });
}

function counted(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
