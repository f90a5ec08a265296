import { expect, test } from "vitest";
import type { OwnedBudget } from "../../../domain/budget/budget.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import { UNUSED } from "../../../domain/usage/token-reservation.ts";
import { measureCall } from "../../../server/budgets/measure-call.ts";
import { CallPricer } from "../../../server/usage/call-pricer.ts";

const LIST = `
currency: EUR
prices:
  - { model: dear, from: 2026-01-01, input: 2, output: 20 }
  - { model: cheap, from: 2026-01-01, input: 1, output: 10 }`;
const CALL = { tokens: { input: 100, output: 50 }, models: ["cheap", "dear"] };
const owned = { id: "key a", of: "key", period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;

test.each<[OwnedBudget, number]>([
  [{ ...owned, tokens: 1_000 }, 150],
  [{ ...owned, cost: "1", currency: "EUR" }, 1_200],
])("b209: of %j each upstream that was given up is charged what was reserved", (budget, reserved) => {
  const read = parsePriceList(LIST);
  const pricer = new CallPricer({ current: () => ("list" in read ? read.list : null) });
  const { expected, usedBy } = measureCall(budget, CALL, pricer, Date.UTC(2026, 10, 20));
  expect([expected, usedBy({ ...UNUSED, givenUp: 2 })]).toEqual([reserved, 2 * reserved]);
});
