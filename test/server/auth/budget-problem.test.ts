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
  expected: 1_533,
  endsAt: Date.UTC(2026, 11, 1),
} as const;

test("b129: says how much is used, what the call may use, and when the budget resets", () => {
  expect(budgetProblem(exhausted, NOW)).toMatchObject({
    ...{ status: 429, code: "budget_exceeded", headers: { "retry-after": "30" } },
    detail:
      "This key's budget of 5,000,000 tokens a month has no room for this call, which may use 1,533: 4,999,200 are used. It resets at 2026-12-01T00:00:00.000Z (UTC). A call that may use less fits: lower the most that its answer may have.",
  });
});

test("b129: asks for a wait of an hour at most, and for no repetition where it would be of no use", () => {
  const early = budgetProblem({ ...exhausted, spent: 5_000_000 }, Date.UTC(2026, 10, 2));
  expect(early.headers).toEqual({ "retry-after": "3600", "x-should-retry": "false" });
  expect(early.detail).not.toContain("may use less");
  expect(early.detail).toMatch(/It resets at 2026-12-01T00:00:00.000Z \(UTC\). To go on before, have it raised.$/);
  const total = { ...budget, of: "team", period: "Total" } as const;
  const never = budgetProblem({ ...exhausted, budget: total, endsAt: Number.POSITIVE_INFINITY }, NOW);
  expect(never.headers).toEqual({ "x-should-retry": "false" });
  expect(never.detail).toContain("The team's budget of 5,000,000 tokens in all has no room");
});

test("b129: where calls under way hold the rest, says to try again", () => {
  expect(budgetProblem({ ...exhausted, spent: 10 }, NOW).headers).toEqual({ "retry-after": "2" });
});

test("b129: where the database is away, says to try again, and ends the connection, so that another replica may answer", () => {
  expect(budgetProblem({ kind: "away", budget }, NOW)).toMatchObject({
    ...{ status: 503, code: "unavailable", headers: { "retry-after": "1", connection: "close" } },
    detail:
      "This key's budget of 5,000,000 tokens a month cannot be asked for room while the database does not answer: try again.",
  });
});

test("b178: where others have the budget locked, does not say that the database is away", () => {
  expect(budgetProblem({ kind: "busy", budget }, NOW)).toMatchObject({
    ...{ status: 503, code: "unavailable", headers: { "retry-after": "1" } },
    detail:
      "This key's budget of 5,000,000 tokens a month cannot be asked for room yet, since others are before this call: try again.",
  });
});

test("b179: where the team's own calls wait before it, says so, and when to try again", () => {
  expect(budgetProblem({ kind: "crowded", budget }, NOW)).toMatchObject({
    ...{ status: 429, code: "rate_limited", headers: { "retry-after": "1" } },
    detail:
      "This key's budget of 5,000,000 tokens a month cannot be asked for room yet, since calls of its own team wait before this one: try again in 1 s.",
  });
});

test("b129: what servers that ended hold is no reason to try again soon", () => {
  const { headers, detail } = budgetProblem({ ...exhausted, spent: 10, silent: 4_999_000 }, Date.UTC(2026, 10, 2));
  expect(headers).toEqual({ "retry-after": "3600", "x-should-retry": "false" });
  expect(detail).toContain("10 are used, and servers that ended hold 4,999,000 more. It resets at");
});

const dollars: OwnedBudget = {
  ...{ of: "key", id: "key o USD Month", cost: "10", currency: "USD", period: "Month" },
  ...{ timeZone: "UTC", onExhausted: "Refuse" },
};

test("b145: says of a budget of cost what is used in its currency", () => {
  const refusal = { ...exhausted, budget: dollars, spent: 9_990_000, expected: 25_000.5 };
  expect(budgetProblem(refusal, NOW).detail).toContain(
    "This key's budget of 10.00 USD a month has no room for this call, which may cost 0.025001 USD: 9.99 USD are spent.",
  );
});

test("b149: says of a budget that teams share whose it is", () => {
  const shared = { ...dollars, of: "policy", policy: "staging", cost: "1000" } as const;
  const refusal = { ...exhausted, budget: shared, spent: 999_990_000, expected: 20_000 };
  expect(budgetProblem(refusal, NOW).detail).toBe(
    "PlatformKeyPolicy staging's shared budget of 1,000.00 USD a month has no room for this call, which may cost 0.02 USD: 999.99 USD are spent. It resets at 2026-12-01T00:00:00.000Z (UTC). A call that may cost less fits: lower the most that its answer may have.",
  );
});

test.each<[currency: string | null, models: readonly (string | undefined)[], detail: string]>([
  [
    "USD",
    ["fast"],
    "This key's budget of 10.00 USD a month cannot be held: the price list has no prices for this model, or for one that its route leads to: use another, or have it listed.",
  ],
  [
    null,
    ["fast"],
    "This key's budget of 10.00 USD a month cannot be held: the servers have no price list, which --prices gives them.",
  ],
  ["EUR", ["fast"], "This key's budget of 10.00 USD a month cannot be held: the servers' price list is in EUR."],
  [
    "USD",
    [undefined],
    "This key's budget of 10.00 USD a month cannot be held: the call names no model by which it has a price.",
  ],
])("b145: says why a call's price is not known: a list of %s, and %j", (currency, models, detail) => {
  const shown = budgetProblem({ kind: "unpriced", budget: dollars, currency, models }, NOW);
  expect(shown).toMatchObject({ status: 403, code: "forbidden", detail, headers: { "x-should-retry": "false" } });
});
