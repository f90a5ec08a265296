/** What no call can use, and callers and upstreams say all the same. */
import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import { UNUSED } from "../../../domain/usage/token-reservation.ts";
import { NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { MAX_LINES, writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { readUses } from "../../../store/budgets/read-budgets.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { unique } from "../../store/fixtures.ts";
import { keyRecord, testClock } from "../harness.ts";
import { budgetsOn, callOf, usedOf } from "./ledger.ts";

/** A currency of small units; what a call of a tool costs is more than any does. */
const LIST = `
currency: KRW
prices:
  - { model: opus, from: 2026-01-01, input: 22000, output: 110000, toolCalls: 9999999 }`;

function keyWith(items: readonly Budget[]) {
  return keyRecord({ teamId: "team-a", budgets: { owner: unique("team-a c/ns/reader"), items } });
}

describeNightlyOnEachEngine("A budget of what calls cost", (store) => {
  const open = () => {
    const read = parsePriceList(LIST);
    if (!("list" in read)) throw new Error("the price list has faults");
    return budgetsOn((holder, lines) => writeLedger(store().db, holder, lines), testClock(), {
      mostLines: MAX_LINES,
      prices: () => read.list,
      answerMs: 60_000,
    });
  };
  const month = { period: "Month", timeZone: "UTC" } as const;
  const cost = { cost: "100000", currency: "KRW", ...month } as const;

  test("b151: refuses a call that may cost more than any number that is stored, and takes no other budget with it", async () => {
    const thread = open();
    const outsized = { tokens: { input: 100, output: Number.MAX_SAFE_INTEGER }, models: ["opus"] };
    const refused = await thread.reserve(keyWith([{ ...cost, onExhausted: "Refuse" }]), outsized);
    expect("kind" in refused ? refused.kind : "reserved").toBe("exhausted");
    const other = await thread.reserve(keyWith([{ tokens: 1_000, ...month, onExhausted: "Refuse" }]), callOf(100));
    expect("kind" in other ? other.kind : "reserved").toBe("reserved");
  });

  test("b151: of which an upstream reports more than is stored is used up, and what others have used is written", async () => {
    const thread = open();
    const [alerting, other] = [
      keyWith([{ ...cost, onExhausted: "Alert" }]),
      keyWith([{ tokens: 1_000, ...month, onExhausted: "Refuse" }]),
    ];
    const [call, others] = [await thread.reserve(alerting, callOf(1)), await thread.reserve(other, callOf(100))];
    if ("kind" in call || "kind" in others) throw new Error("a call was refused");
    const tokens = { ...NO_TOKENS, tool_calls: 1_000_000_000 };
    thread.settle(call, {
      ...UNUSED,
      answer: { tokens, model: "opus", ending: "reported", isDoubtful: false },
    });
    thread.settle(others, usedOf(70));
    await thread.endRound();
    const budgets = [...call.parts, ...others.parts].map(({ held: { id } }) => ({
      ...(id.includes(" KRW ") ? { ...cost } : { tokens: 1_000, ...month }),
      ...{ id, of: "key" as const, onExhausted: "Refuse" as const },
    }));
    const now = testClock().now();
    expect(await readUses(store().db, budgets, now)).toMatchObject([{ reached: 100 }, { spent: 70 }]);
  });
});
