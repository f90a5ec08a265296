import { expect, test } from "vitest";
import type { OwnedBudget } from "../../../domain/budget/budget.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import type { PriceList } from "../../../domain/usage/price-list.ts";
import { UNUSED, type UsedTokens } from "../../../domain/usage/token-reservation.ts";
import { NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { measureCall } from "../../../server/budgets/measure-call.ts";
import { CallPricer } from "../../../server/usage/call-pricer.ts";

const LIST = `
currency: EUR
prices:
  - { model: dear, from: 2026-01-01, input: 2, output: 20 }
  - { model: cheap, from: 2026-01-01, input: 1, output: 10 }`;
const CALL = { tokens: { input: 100, output: 50 }, models: ["cheap", "dear"] };
const owned = { id: "key a", of: "key", period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;

function listOf(text: string): PriceList {
  const read = parsePriceList(text);
  if ("faults" in read) throw new Error(read.faults.map(({ message }) => message).join());
  return read.list;
}

test.each<[OwnedBudget, number]>([
  [{ ...owned, tokens: 1_000 }, 150],
  [{ ...owned, cost: "1", currency: "EUR" }, 1_200],
])("b209: of %j each upstream that was given up is charged what was reserved", (budget, reserved) => {
  const list = listOf(LIST);
  const pricer = new CallPricer({ current: () => list });
  const { expected, usedBy } = measureCall(budget, CALL, pricer.at(Date.UTC(2026, 10, 20)));
  expect([expected, usedBy({ ...UNUSED, givenUp: 2 })]).toEqual([reserved, 2 * reserved]);
});

const NOW = Date.UTC(2026, 10, 20);
const COST: OwnedBudget = { ...owned, cost: "1", currency: "EUR" };

test.each<[what: string, PriceList | null]>([
  [
    "of another currency",
    listOf("currency: JPY\nprices: [{ model: '*', from: 2026-01-01, input: 150, output: 1500 }]"),
  ],
  ["of none", null],
  ["that lacks the model", listOf("currency: EUR\nprices: [{ model: other, from: 2026-01-01, input: 7 }]")],
  ["of other prices", listOf("currency: EUR\nprices: [{ model: cheap, from: 2026-01-01, input: 9, output: 90 }]")],
])("b325: a call is settled by the list that it was measured by, where the next one is %s", (_what, next) => {
  let list: PriceList | null = listOf(LIST);
  const pricer = new CallPricer({ current: () => list });
  const { usedBy } = measureCall(COST, CALL, pricer.at(NOW));
  list = next;
  measureCall(COST, CALL, pricer.at(NOW)).usedBy(UNUSED);
  expect([usedBy(usedOf("cheap")), usedBy(usedOf("unknown"))]).toEqual([100 + 500, 200 + 1_000]);
});

test("b325: a call that was measured without a price is charged none by a later list, nor by a later day's", () => {
  let list = listOf("currency: JPY\nprices: [{ model: cheap, from: 2026-01-01, input: 150, output: 1500 }]");
  const pricer = new CallPricer({ current: () => list });
  const { usedBy } = measureCall(COST, CALL, pricer.at(NOW));
  list = listOf(`${LIST}
  - { model: cheap, from: 2026-12-01, input: 3, output: 30 }`);
  expect(usedBy(usedOf("cheap"))).toBe(0);
  const ofNovember = measureCall(COST, CALL, pricer.at(NOW));
  const ofDecember = measureCall(COST, CALL, pricer.at(Date.UTC(2026, 11, 1)));
  expect([ofDecember, ofNovember].map((call) => call.usedBy(usedOf("cheap")))).toEqual([1_800, 600]);
});

/** That an answer of a model has reported as many tokens as the call was expected to use. */
function usedOf(model: string): UsedTokens {
  const tokens = { ...NO_TOKENS, input: 100, output: 50 };
  return { ...UNUSED, answer: { model, tokens, ending: "reported", isDoubtful: false } };
}
