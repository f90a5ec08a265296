/** What threads that stop in order leave of budgets. */
import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import { keyRecord, testClock } from "../harness.ts";
import { budgetsOn, callOf, ledgerInMemory, usedOf } from "./ledger.ts";

test.each(["Refuse", "Alert"] as const)(
  "b427: a thread that stops leaves nothing of a budget that is locked as it writes its last lines: %s",
  async (onExhausted) => {
    const { write, sumOf } = ledgerInMemory();
    let isLocked = false;
    const thread = budgetsOn(async (holder, lines) => {
      if (!isLocked) return write(holder, lines);
      isLocked = false;
      return lines.map(() => null);
    }, testClock());
    const item: Budget = { tokens: 1_000, period: "Month", timeZone: "UTC", onExhausted };
    const call = await thread.reserve(keyRecord({ budgets: { owner: "o", items: [item] } }), callOf(400));
    if ("kind" in call) throw new Error(call.kind);
    thread.settle(call, usedOf(10));
    isLocked = true;
    await thread.close();
    expect(sumOf("key o tokens Month", "2026-11-01")).toEqual({ spent: 10, held: 0 });
  },
);
