import { budgetPeriod } from "../../domain/budget/budget.ts";
import { budgetUnit, inUnit, mostOf, partsText } from "../../domain/budget/budget-size.ts";
import type { Threshold } from "../../domain/budget/threshold.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { BudgetUse } from "../../store/budgets/read-budgets.ts";
import { type Html, html } from "../pages/html.ts";
import { ago, moment } from "./times.ts";

/** Word and tone for each threshold of a budget. */
const REACHED = {
  50: { word: "50 % reached", tone: "" },
  80: { word: "80 % reached", tone: "warn" },
  100: { word: "Used up", tone: "bad" },
} as const satisfies Record<Threshold, { word: string; tone: string }>;

/**
 * Shows the use of each budget with a bar, and below it what is left, when it resets, and what happens once it is used
 * up.
 *
 * @param now milliseconds since the epoch
 */
export function shownBudgets(uses: readonly BudgetUse[], now: number): Html[] {
  return uses.map((use) => {
    const { budget, unsettled, endsAt } = use;
    const { used, left, percent, shown } = amountsOf(use);
    const lost = unsettled === 0 ? "" : `; ${shown(unsettled)} count as used since servers ended while holding them`;
    const reset = Number.isFinite(endsAt) ? html`; resets ${moment(rfc3339Millis(endsAt), now)}` : "";
    const then =
      budget.onExhausted === "Refuse" ? "calls are refused once it is used up" : "it warns and refuses no call";
    return html`<div class="budget">${headline(use, used)}${bar(use, used)}<small>${percent} % used, ${left} left${lost}${reset}; ${then}${budget.policy !== undefined && html`; shared by the teams of PlatformKeyPolicy <bdi>${budget.policy}</bdi>`}</small></div>`;
  });
}

/**
 * Shows the use of each budget in short, for a list: how much of how much is used, and when it resets. @param now
 * milliseconds since the epoch
 */
export function listedBudgets(uses: readonly BudgetUse[], now: number): Html[] {
  return uses.map((use) => {
    const { budget, endsAt } = use;
    const { used, left } = amountsOf(use);
    const reset = Number.isFinite(endsAt) ? html`, resets ${ago(rfc3339Millis(endsAt), now)}` : "";
    return html`<div class="budget">${headline(use, used)}${bar(use, used)}<small>${left} left${reset}${budget.policy !== undefined && ", shared"}</small></div>`;
  });
}

function headline(use: BudgetUse, used: string): Html {
  return html`<span><b>${used}</b> ${budgetPeriod(use.budget)}${badge(use)}</span>`;
}

/** Returns the amounts of a budget as text, and the percentage used as a number. */
function amountsOf({ budget, spent, unsettled }: BudgetUse) {
  const shown = amountIn(budgetUnit(budget));
  const most = mostOf(budget);
  return {
    shown,
    used: `${shown(spent)} of ${shown(most)}${"cost" in budget ? "" : " tokens"}`,
    left: shown(Math.max(0, most - spent - unsettled)),
    percent: Math.floor((100 * spent) / most),
  };
}

/** Returns a formatter for parts of a unit: tokens as a number, money with its sign, such as `$0.00`. */
function amountIn(unit: string): (parts: number) => string {
  if (unit === budgetUnit({ tokens: 0 })) return (parts) => partsText(unit, parts);
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 6 };
  const money = new Intl.NumberFormat("en-US", { style: "currency", currency: unit, ...digits });
  return (parts) => money.format(inUnit(unit, parts));
}

function badge({ reached }: BudgetUse): Html | false {
  return reached !== undefined && html` <span class="badge ${REACHED[reached].tone}">${REACHED[reached].word}</span>`;
}

/**
 * Draws the used share of a budget, with a text for screen readers. Uses attributes alone, as pages have no inline
 * styles. Counts what ended servers held as used.
 */
function bar(use: BudgetUse, used: string): Html {
  const { budget, spent, unsettled, reached } = use;
  const part = (amount: number) => Math.min(100, Math.round((1_000 * amount) / mostOf(budget)) / 10);
  const gone = part(spent + unsettled);
  const tone = reached === undefined ? "" : REACHED[reached].tone;
  return html`<svg class="meter ${tone}" viewBox="0 0 100 4" preserveAspectRatio="none" role="meter" aria-label="Budget ${budgetPeriod(budget)}" aria-valuemin="0" aria-valuemax="100" aria-valuenow="${gone}" aria-valuetext="${used} used, ${gone} %"><rect class="room" width="100" height="4"/><rect class="lost" width="${gone}" height="4"/><rect class="used" width="${part(spent)}" height="4"/></svg>`;
}
