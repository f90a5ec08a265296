import { expect, test } from "vitest";
import { budgetTexts } from "../../../cli/output/budgets-text.ts";

const monthly = { tokens: 1_000, period: "Month", timeZone: "Europe/Berlin" } as const;
const use = {
  ...({ limit: 1_000, unit: "tokens", period: "Month", timeZone: "Europe/Berlin", onExhausted: "Refuse" } as const),
  ...{ used: 820, held: 0, lost: 0, reached: 80, beginsAnewAt: "2026-11-30T23:00:00Z" },
  sharedBy: null,
} as const;

test("describe shows what a budget has and has used, and when it resets", () => {
  expect(budgetTexts([monthly], [use])).toEqual([
    "1,000 tokens a month (Europe/Berlin), refuses: 820 used (82 %); resets at 2026-11-30T23:00:00Z",
  ]);
  const total = { ...use, period: "Total", onExhausted: "Alert", held: 20, lost: 5, beginsAnewAt: null } as const;
  expect(budgetTexts([monthly], [total])).toEqual([
    "1,000 tokens in all, alerts: 820 used (82 %), 20 held by servers, 5 lost with servers that ended",
  ]);
});

test("describe shows what a budget of cost has and has used in its currency", () => {
  const spent = { ...use, limit: 250, unit: "USD", used: 12.345678, held: 1, lost: 0.5 };
  expect(budgetTexts([monthly], [spent])).toEqual([
    "250.00 USD a month (Europe/Berlin), refuses: 12.345678 USD used (4 %), 1.00 USD held by servers, 0.50 USD lost with servers that ended; resets at 2026-11-30T23:00:00Z",
  ]);
});

test("describe says which budget is shared, and by which policy", () => {
  expect(budgetTexts([], [{ ...use, sharedBy: "staging" }])).toEqual([
    "1,000 tokens a month (Europe/Berlin), refuses, shared by PlatformKeyPolicy staging: 820 used (82 %); resets at 2026-11-30T23:00:00Z",
  ]);
});

test("describe shows what is declared alone where its use is not known, and nothing where there is no budget", () => {
  expect(budgetTexts([monthly], undefined)).toEqual(["1,000 tokens a month (Europe/Berlin), refuses"]);
  expect([budgetTexts(undefined, undefined), budgetTexts([monthly], [])]).toEqual([undefined, undefined]);
});
