import { budgetSize, budgetText } from "../../domain/budget/budget.ts";
import { budgetUnit, mostOf, partsText } from "../../domain/budget/budget-size.ts";
import type { Threshold } from "../../domain/budget/threshold.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { BudgetUse } from "../../store/budgets/read-budgets.ts";
import { type Html, html } from "../pages/html.ts";
import { ago, moment } from "./times.ts";

/** How a threshold is said, and how serious it is. */
const REACHED = {
  50: { word: "50 % reached", tone: "" },
  80: { word: "80 % reached", tone: "warn" },
  100: { word: "Used up", tone: "bad" },
} as const satisfies Record<Threshold, { word: string; tone: string }>;

/**
 * What budgets have and have used, for people, a line and a bar for each.
 *
 * @param now milliseconds since the epoch
 */
export function shownBudgets(uses: readonly BudgetUse[], now: number): Html[] {
  return uses.map((use) => {
    const { budget, unsettled, endsAt } = use;
    const { spent, left, percent, shown } = amountsOf(use);
    const lost =
      unsettled === 0 ? "" : `, and ${shown(unsettled)} that count as used since servers ended while holding them`;
    const anew = Number.isFinite(endsAt) ? html`; resets ${moment(rfc3339Millis(endsAt), now)}` : "";
    return html`<span class="line">${budgetText(budget)}${budget.policy !== undefined && html`, shared by the teams of PlatformKeyPolicy <bdi>${budget.policy}</bdi>`}: ${spent} used (${percent} %)${lost}; ${left} left${anew}${badge(use)}${bar(use)}</span>`;
  });
}

/** The same in a list: how much is used, how much is left, and when it resets. */
export function listedBudgets(uses: readonly BudgetUse[], now: number): Html[] {
  return uses.map((use) => {
    const { budget, endsAt } = use;
    const { spent, left } = amountsOf(use);
    const anew = Number.isFinite(endsAt) ? html`, resets ${ago(rfc3339Millis(endsAt), now)}` : "";
    return html`<span class="line">${budgetSize(budget)}${badge(use)}<small>${spent} used, ${left} left${anew}${budget.policy !== undefined && ", shared"}</small>${bar(use)}</span>`;
  });
}

/** In words, but the percentage. */
function amountsOf({ budget, spent, unsettled }: BudgetUse) {
  const shown = (parts: number) => partsText(budgetUnit(budget), parts);
  return {
    shown,
    spent: shown(spent),
    left: shown(Math.max(0, mostOf(budget) - spent - unsettled)),
    percent: Math.floor((100 * spent) / mostOf(budget)),
  };
}

function badge({ reached }: BudgetUse): Html | false {
  return reached !== undefined && html` <span class="badge ${REACHED[reached].tone}">${REACHED[reached].word}</span>`;
}

/** How much is used, drawn with attributes alone, as pages have no styles within them. */
function bar({ budget, spent, unsettled, reached }: BudgetUse): Html {
  const part = (amount: number) => Math.min(100, Math.round((1_000 * amount) / mostOf(budget)) / 10);
  const gone = part(spent + unsettled);
  const tone = reached === undefined ? "" : REACHED[reached].tone;
  const label = `${Math.floor((100 * (spent + unsettled)) / mostOf(budget))} % of ${budgetSize(budget)} can be used no more`;
  return html`<svg class="meter ${tone}" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="${label}"><rect class="room" width="100" height="4"/><rect class="lost" width="${gone}" height="4"/><rect class="used" width="${part(spent)}" height="4"/></svg>`;
}
