import { expect, test } from "vitest";
import {
  asThreshold,
  higherThreshold,
  reachedThreshold,
  type Threshold,
  thresholdsUpTo,
} from "../../../domain/budget/threshold.ts";

test.each<[promise: string, limit: number, used: number, hasRefused: boolean, reached: Threshold | undefined]>([
  ["below half of it nothing is reached", 1_000, 499, false, undefined],
  ["half of it is reached as it is used to the token", 1_000, 500, false, 50],
  ["four fifths are not reached one before", 1_000, 799, false, 50],
  ["four fifths are reached", 1_000, 800, false, 80],
  ["the end is not reached one before", 1_000, 999, false, 80],
  ["the end is reached", 1_000, 1_000, false, 100],
  ["the end stays reached beyond it, as where a budget was lowered", 1_000, 5_000, false, 100],
  ["a refusal with next to nothing left is the end", 1_000, 950, true, 100],
  ["a refusal with more left is a large call's", 1_000, 949, true, 80],
  ["a budget of one token is whole or used up", 1, 0, false, undefined],
])("b135: of a budget, %s", (_, limit, used, hasRefused, reached) => {
  expect(reachedThreshold({ limit, used, hasRefused })).toBe(reached);
});

test("a threshold counts as reported with those below it, and a number of the database is one or none", () => {
  expect([thresholdsUpTo(80), thresholdsUpTo(100)]).toEqual([
    [50, 80],
    [50, 80, 100],
  ]);
  expect([higherThreshold(50, 80), higherThreshold(80, undefined), higherThreshold(undefined, undefined)]).toEqual([
    80,
    80,
    undefined,
  ]);
  expect([asThreshold(100), asThreshold(60), asThreshold(null)]).toEqual([100, undefined, undefined]);
});
