import { expect, test } from "vitest";
import type { Budget } from "../../../../domain/budget/budget.ts";
import { boundBudgets, withPolicyBudgets } from "../../../../domain/key/policies/bound-budgets.ts";

const budget = (tokens: number, more: Partial<Omit<Budget, "tokens">> = {}): Budget => ({
  ...{ tokens, period: "Month", timeZone: "UTC", onExhausted: "Refuse" },
  ...more,
});
const BERLIN = { timeZone: "Europe/Berlin" };
const RULE = { budgets: [budget(100, BERLIN)] };

type Row = readonly [
  what: string,
  asked: Budget[] | null,
  has: Budget[] | null,
  before: Budget[] | null,
  due: Budget[],
];

test.for<Row>([
  ["none comes to hold once it is due", null, null, null, [budget(100, BERLIN)]],
  [
    "a larger one is bounded once it is due, in its own time zone",
    [budget(500)],
    [budget(500)],
    [budget(500)],
    [budget(100)],
  ],
  ["a smaller one stays", [budget(60)], [budget(60)], [budget(60)], [budget(60)]],
  ["one may be raised to what the policy says", [budget(90)], [budget(50)], [budget(90)], [budget(90)]],
  ["one is raised no further", [budget(500)], [budget(50)], [budget(100)], [budget(100)]],
  ["one that is dropped makes room for the policy's", null, [budget(50)], [budget(100, BERLIN)], [budget(100, BERLIN)]],
  [
    "one that only alerts gives way once it is due",
    [budget(60, { onExhausted: "Alert" })],
    [budget(60, { onExhausted: "Alert" })],
    [budget(60, { onExhausted: "Alert" })],
    [budget(100, BERLIN)],
  ],
  [
    "one of another period, or in money, is no matter of it",
    [
      budget(7, { period: "Day" }),
      { cost: "5", currency: "USD", period: "Month", timeZone: "UTC", onExhausted: "Refuse" },
    ],
    null,
    [
      budget(7, { period: "Day" }),
      { cost: "5", currency: "USD", period: "Month", timeZone: "UTC", onExhausted: "Refuse" },
    ],
    [
      budget(7, { period: "Day" }),
      { cost: "5", currency: "USD", period: "Month", timeZone: "UTC", onExhausted: "Refuse" },
      budget(100, BERLIN),
    ],
  ],
])("b148: of an issued key's budgets, %s", ([, asked, has, before, due]) => {
  expect(boundBudgets({ asked, has }, [RULE], [{ budgets: [] }])).toEqual(before);
  expect(boundBudgets({ asked, has }, [RULE], [RULE])).toEqual(due);
});

test("of several policies the smallest of each kind is given", () => {
  const policies = [
    { budgets: [budget(100), budget(8, { period: "Day" })] },
    { budgets: [budget(90), budget(9, { period: "Day" })] },
  ];
  expect(withPolicyBudgets(null, policies)).toEqual([budget(90), budget(8, { period: "Day" })]);
  expect(withPolicyBudgets([budget(95)], policies)).toEqual([budget(95), budget(8, { period: "Day" })]);
});
