/** Budgets of cost whose calls cost fractions of parts: sums of them are not exact. */
import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import { UNUSED } from "../../../domain/usage/token-reservation.ts";
import type { BudgetGrants } from "../../../server/budgets/budget-grants.ts";
import { keyRecord, testClock } from "../harness.ts";
import { budgetsOn, ledgerInMemory } from "./ledger.ts";

const DAY_MS = 24 * 3_600_000;
const PRICES = `
currency: USD
prices:
  - { model: one, from: 2026-01-01, input: 0.28, output: 0.42 }
  - { model: other, from: 2026-01-01, input: 0.1, output: 0.4 }
`;

function opened() {
  const read = parsePriceList(PRICES);
  if (!("list" in read)) throw new Error("the list has faults");
  const clock = testClock();
  const { database, write } = ledgerInMemory();
  return { clock, database, thread: budgetsOn(write, clock, { prices: () => read.list }) };
}

function keyWith(cost: string, period: Budget["period"]) {
  const item: Budget = { cost, currency: "USD", period, timeZone: "UTC", onExhausted: "Refuse" };
  return keyRecord({ budgets: { owner: "o", items: [item] } });
}

async function reserved(
  thread: BudgetGrants,
  key: ReturnType<typeof keyWith>,
  model: string,
  input: number,
  output = 0,
) {
  const answer = await thread.reserve(key, { tokens: { input, output }, models: [model] });
  if ("kind" in answer) throw new Error(`refused: ${answer.kind}`);
  return answer;
}

test("b426: a call that costs a whole number of parts but for an error of its sum is granted by one line", async () => {
  const { thread, database } = opened();
  // 511.00000000000006 parts of 10,000.
  await reserved(thread, keyWith("0.01", "Month"), "one", 1_075, 500);
  expect(database.writes).toBe(1);
});

test("b426: a period of which no call holds any more is forgotten, and not written again for ever", async () => {
  const { clock, thread, database } = opened();
  const key = keyWith("1.00", "Day");
  const calls = [await reserved(thread, key, "other", 1), await reserved(thread, key, "other", 2)];
  for (const call of calls) thread.settle(call, UNUSED);
  clock.advance(4 * DAY_MS);
  for (let i = 0; i < 3; i++) await thread.endRound();
  const { writes } = database;
  clock.advance(600_000);
  await thread.endRound();
  expect(database.writes).toBe(writes);
});
