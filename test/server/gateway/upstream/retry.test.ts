import { expect, test } from "vitest";
import { RetryBudget, retryDelay } from "../../../../server/gateway/upstream/retry.ts";

test.each([
  [0, undefined, 0, 250],
  [0, undefined, 1, 500],
  [1, undefined, 1, 1_000],
  [2, undefined, 0, 1_000],
  [4, undefined, 1, 8_000],
  [9, undefined, 1, 8_000],
  [0, 0, 0, 0],
  [0, 2_000, 0, 2_000],
  [0, 2_000, 1, 2_250],
  [0, 10_000, 0, 10_000],
  [0, 10_001, 0, undefined],
])("after %i retries, asked to wait %s ms, at %d: %s ms", (retries, asked, random, expected) => {
  expect(retryDelay(retries, asked, random)).toBe(expected);
});

test("b406: retries are a fifth of the calls, and ten beyond, however many calls there were before", () => {
  const budget = new RetryBudget();
  const take = (count: number) => Array.from({ length: count }, () => budget.tryTake()).filter(Boolean).length;
  for (let i = 0; i < 1_000; i++) budget.earn();
  expect(take(100)).toBe(10);
  for (let i = 0; i < 26; i++) budget.earn();
  expect(take(100)).toBe(5);
});
