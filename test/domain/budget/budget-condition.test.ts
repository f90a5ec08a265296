import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import {
  type BudgetStanding,
  budgetConditions,
  budgetNews,
  nextBegin,
} from "../../../domain/budget/budget-condition.ts";
import type { Threshold } from "../../../domain/budget/threshold.ts";

const DECEMBER = Date.UTC(2026, 11, 1);
const month: Budget = { tokens: 1_000, period: "Month", timeZone: "Europe/Berlin", onExhausted: "Refuse" };
const total: Budget = { tokens: 9_000, period: "Total", timeZone: "UTC", onExhausted: "Alert" };
const standing = (reached: Threshold | undefined, budget = month): BudgetStanding => ({
  ...{ budget, reached },
  endsAt: budget.period === "Total" ? Number.POSITIVE_INFINITY : DECEMBER,
});
const said = (...standings: BudgetStanding[]) =>
  budgetConditions(standings).map(({ status, reason }) => `${status}/${reason}`);

test("the condition is there where there are budgets, and by the one that is used the most", () => {
  expect(said()).toEqual([]);
  expect(said(standing(undefined), standing(undefined, total))).toEqual(["False/BudgetLeft"]);
  expect(said(standing(50), standing(undefined, total))).toEqual(["False/BudgetHalfUsed"]);
  expect(said(standing(50), standing(80, total))).toEqual(["False/BudgetNearlyExhausted"]);
  expect(said(standing(100), standing(50, total))).toEqual(["True/BudgetExhausted"]);
});

test("each budget that is half used is named, with when it resets", () => {
  expect(budgetConditions([standing(80), standing(100, total)])[0]?.message).toBe(
    "At least 80 % of the budget of 1,000 tokens a month (Europe/Berlin) are used; it resets at 2026-12-01T00:00:00Z." +
      " The budget of 9,000 tokens in all is used up, and calls of models go on; it does not reset." +
      " Wait until then, or raise it in spec.budgets.",
  );
});

test("an event is of each part that the condition did not name, and not of what another budget has done meanwhile", () => {
  const before = budgetConditions([standing(50), standing(50, total)])[0]?.message;
  const news = budgetNews([standing(80), standing(50, total)], before);
  expect(news).toMatchObject([{ type: "Warning", reason: "BudgetNearlyExhausted" }]);
  expect(budgetNews([standing(undefined), standing(50, total)], before)).toEqual([]);
  expect(budgetNews([standing(50)], undefined)).toMatchObject([{ type: "Normal", reason: "BudgetHalfUsed" }]);
  expect(budgetNews([{ ...standing(50), endsAt: DECEMBER + 1_000 }], before)).toHaveLength(1);
});

test("the status is looked at again when a used budget resets, and for no other", () => {
  expect([nextBegin([standing(50), standing(undefined, total)]), nextBegin([standing(undefined)])]).toEqual([
    DECEMBER,
    Number.POSITIVE_INFINITY,
  ]);
});
