import { expect, test } from "vitest";
import {
  areBudgetsKept,
  type Budget,
  budgetsOf,
  budgetText,
  declareBudgets,
  hasBudget,
  hasCostBudget,
} from "../../../domain/budget/budget.ts";
import { keyRecord } from "../../server/harness.ts";

const month = { tokens: 100, period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;

const dollars = { cost: "10", currency: "USD", period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;

test("a budget refuses, by UTC's calendar, where nothing else is said", () => {
  expect(declareBudgets([{ tokens: 100, period: "Month" }])).toEqual([month]);
  expect(declareBudgets([{ cost: "10", currency: "USD", period: "Month" }])).toEqual([dollars]);
  expect([declareBudgets(undefined), declareBudgets([])]).toEqual([null, null]);
});

test("b129: a call is held to its key's budgets and its team's, each by its owner's name and its period", () => {
  const day: Budget = { ...month, period: "Day" };
  const teamLimits = { rate: null, concurrent: null, budgets: [day] };
  const key = keyRecord({ budgets: { owner: "team-a c/ns/reader", items: [month] }, teamLimits });
  expect(budgetsOf(key)).toEqual([
    { ...month, of: "key", id: "key team-a c/ns/reader tokens Month" },
    { ...day, of: "team", id: "team team-a tokens Day" },
  ]);
  expect([hasBudget(key), hasBudget(keyRecord()), budgetsOf(keyRecord())]).toEqual([true, false, []]);
});

test.each<[promise: string, is: boolean, after: readonly Budget[] | null, before: readonly Budget[] | null]>([
  ["none is wider than one", false, null, [month]],
  ["one is no wider than none", true, [month], null],
  ["less is no wider", true, [{ ...month, tokens: 99 }], [month]],
  ["more is wider", false, [{ ...month, tokens: 101 }], [month]],
  ["to be alerted is wider than to be refused", false, [{ ...month, onExhausted: "Alert" }], [month]],
  ["none is no wider than to be alerted", true, null, [{ ...month, onExhausted: "Alert" }]],
  ["another period is wider", false, [{ ...month, period: "Week" }], [month]],
  ["a period that begins elsewhere is wider", false, [{ ...month, timeZone: "Asia/Tokyo" }], [month]],
  ["a budget of cost is no budget of tokens", false, [dollars], [month]],
  ["what costs less is no wider", true, [{ ...dollars, cost: "9.99" }], [dollars]],
  ["what costs more is wider", false, [{ ...dollars, cost: "10.000001" }], [dollars]],
  ["another currency is wider", false, [{ ...dollars, currency: "EUR" }], [dollars]],
])("%s", (_, is, after, before) => {
  expect(areBudgetsKept(after, before)).toBe(is);
});

test("b145: a budget of cost is counted by its currency, and its call's model has to be known", () => {
  const key = keyRecord({ budgets: { owner: "team-a c/ns/reader", items: [month, dollars] } });
  expect(budgetsOf(key).map(({ id }) => id)).toEqual([
    "key team-a c/ns/reader tokens Month",
    "key team-a c/ns/reader USD Month",
  ]);
  const ofTeam = keyRecord({ teamLimits: { rate: null, concurrent: null, budgets: [dollars] } });
  const tokens = keyRecord({ budgets: { owner: "o", items: [month] } });
  expect([key, ofTeam, tokens, keyRecord()].map(hasCostBudget)).toEqual([true, true, false, false]);
});

test("is said in words", () => {
  expect(budgetText(dollars)).toBe("10.00 USD a month (UTC), refuses");
  expect(budgetText(month)).toBe("100 tokens a month (UTC), refuses");
  expect(budgetText({ ...month, period: "Total", onExhausted: "Alert" })).toBe("100 tokens in all, alerts");
});
