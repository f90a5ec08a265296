import { expect, test } from "vitest";
import type { OwnedBudget } from "../../../domain/budget/budget.ts";
import { budgetProblem } from "../../../server/auth/budget-problem.ts";

const NOW = Date.UTC(2026, 10, 30, 23, 59, 30);
const budget: OwnedBudget = {
  ...{ of: "key", id: "key o tokens Month", tokens: 5_000_000, period: "Month" },
  ...{ timeZone: "UTC", onExhausted: "Refuse" },
};
const exhausted = {
  kind: "exhausted",
  budget,
  spent: 4_999_200,
  silent: 0,
  tokens: 1_533,
  endsAt: Date.UTC(2026, 11, 1),
} as const;

test("b129: says how much is used, what the call may use, and when the budget begins anew", () => {
  expect(budgetProblem(exhausted, NOW)).toMatchObject({
    ...{ status: 429, code: "budget_exceeded", headers: { "retry-after": "30" } },
    detail:
      "This key's budget of 5000000 tokens a month has no room for this call, which may use 1533: 4999200 are used. It begins anew at 2026-12-01T00:00:00.000Z (UTC). A call that may use less fits: lower the most that its answer may have.",
  });
});

test("b129: asks for a wait of an hour at most, and for no repetition where it would be of no use", () => {
  const early = budgetProblem({ ...exhausted, spent: 5_000_000 }, Date.UTC(2026, 10, 2));
  expect(early.headers).toEqual({ "retry-after": "3600", "x-should-retry": "false" });
  expect(early.detail).not.toContain("may use less");
  const total = { ...budget, of: "team", period: "Total" } as const;
  const never = budgetProblem({ ...exhausted, budget: total, endsAt: Number.POSITIVE_INFINITY }, NOW);
  expect(never.headers).toEqual({ "x-should-retry": "false" });
  expect(never.detail).toContain("The team's budget of 5000000 tokens in all has no room");
});

test("b129: where calls under way hold the rest, and where the database is away, says to try again", () => {
  expect(budgetProblem({ ...exhausted, spent: 10 }, NOW).headers).toEqual({ "retry-after": "2" });
  expect(budgetProblem({ kind: "away", budget }, NOW)).toMatchObject({ status: 503, code: "unavailable" });
});

test("b129: what servers that ended hold is no reason to try again soon", () => {
  const { headers, detail } = budgetProblem({ ...exhausted, spent: 10, silent: 4_999_000 }, Date.UTC(2026, 10, 2));
  expect(headers).toEqual({ "retry-after": "3600", "x-should-retry": "false" });
  expect(detail).toContain("10 are used, and servers that ended hold 4999000 more. It begins anew at");
});
