import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { type LedgerLine, writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { prune } from "../../../store/retention.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { ledgerInMemory } from "../../server/budgets/ledger.ts";
import { unique } from "../fixtures.ts";

const lineOf = (budget: string, fields: Partial<LedgerLine> = {}): LedgerLine => ({
  ...{ budget, period: "2026-11-01", endsAt: Date.UTC(2026, 11, 1), turn: 1 },
  ...{ spent: 0, held: 0, wanted: 0, most: 1_000 },
  ...fields,
});

describeNightlyOnEachEngine("The ledger of budgets", (store) => {
  const write = async (holder: string, line: LedgerLine) => (await writeLedger(store().db, holder, [line]))[0];

  test("b129: grants what is wanted or a fiftieth of what is left, and never more than that", async () => {
    const budget = unique("budget");
    expect(await write("a", lineOf(budget, { wanted: 5 }))).toMatchObject({ granted: 20, rest: 980, spent: 0 });
    expect(await write("b", lineOf(budget, { wanted: 981 }))).toMatchObject({ granted: 0, rest: 980, spent: 0 });
    expect(await write("b", lineOf(budget, { turn: 2, wanted: 980 }))).toMatchObject({
      granted: 980,
      rest: 0,
      spent: 0,
    });
    // What was not used goes back, and is there for the other.
    await write("b", lineOf(budget, { turn: 3, spent: 100 }));
    expect(await write("a", lineOf(budget, { turn: 2, held: 20, wanted: 880 }))).toMatchObject({ granted: 880 });
  });

  test("b129: the same line again changes nothing, nor does one that comes late", async () => {
    const budget = unique("budget");
    const line = lineOf(budget, { spent: 300, held: 10, wanted: 100 });
    expect(await write("a", line)).toMatchObject({ granted: 100, rest: 590, spent: 300 });
    expect(await write("a", line)).toMatchObject({ granted: 0, rest: 590, spent: 300 });
    expect(await write("a", lineOf(budget, { turn: 5, spent: 400, held: 10 }))).toMatchObject({
      ...{ granted: 0, rest: 590, spent: 400 },
    });
    expect(await write("a", lineOf(budget, { turn: 4, spent: 390, held: 500 }))).toMatchObject({
      ...{ granted: 0, rest: 590, spent: 400 },
    });
  });

  test("b129: a holder's next line makes good what a restore has lost", async () => {
    const budget = unique("budget");
    await write("a", lineOf(budget, { spent: 100 }));
    await write("a", lineOf(budget, { turn: 2, spent: 700, held: 50 }));
    await sql`update budget_ledger set turn = 1, spent = 100, held = 0 where budget = ${budget}`.execute(store().db);
    expect(await write("b", lineOf(budget))).toMatchObject({ rest: 900 });
    expect(await write("a", lineOf(budget, { turn: 3, spent: 700, held: 50 }))).toMatchObject({
      rest: 250,
      spent: 700,
    });
  });

  test("b130: a budget that is lowered goes on with what was used, and grants nothing beyond it", async () => {
    const budget = unique("budget");
    await write("a", lineOf(budget, { spent: 600 }));
    expect(await write("a", lineOf(budget, { turn: 2, spent: 600, wanted: 1, most: 500 }))).toMatchObject({
      ...{ granted: 0, rest: -100, spent: 600 },
    });
  });

  test("b129: does as the tests' ledger in memory, line after line", async () => {
    const amount = fc.integer({ min: 0, max: 2_000 });
    const lines = fc.array(
      fc.record({
        ...{ holder: fc.constantFrom("a", "b"), turn: fc.integer({ min: 1, max: 9 }) },
        ...{ spent: amount, held: amount, wanted: amount, most: amount },
      }),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(lines, async (all) => {
        const [budget, memory] = [unique("budget"), ledgerInMemory()];
        for (const { holder, ...fields } of all) {
          const line = lineOf(budget, fields);
          expect([await write(holder, line)]).toEqual(await memory.write(holder, [line]));
        }
      }),
      { numRuns: 40 },
    );
  });

  test("is kept for as long as its period lasts, and the retention after it", async () => {
    const [over, lasting] = [unique("budget"), unique("budget")];
    await write("a", lineOf(over, { endsAt: Date.now() - 120_000 }));
    await write("a", lineOf(lasting, { endsAt: Number.POSITIVE_INFINITY }));
    expect((await prune(store(), 60_000)).budgets).toBeGreaterThanOrEqual(1);
    const { rows } = await sql<{ budget: string }>`select budget from budget_ledger`.execute(store().db);
    const names = rows.map(({ budget }) => budget);
    expect([names.includes(over), names.includes(lasting)]).toEqual([false, true]);
  });
});

describeOnPostgres("The ledger of budgets, asked by many at once", (store) => {
  test("b129: grants no more than there is, and everything of it, whatever the order of the budgets", async () => {
    const budgets = [unique("budget"), unique("budget")];
    const ask = (holder: number) => {
      const lines = budgets.map((budget) => lineOf(budget, { wanted: 100 }));
      return writeLedger(store().db, `holder-${holder}`, holder % 2 === 0 ? lines : lines.toReversed());
    };
    const answers = await Promise.all(Array.from({ length: 30 }, (_, holder) => ask(holder)));
    expect(answers.flat().reduce((sum, answer) => sum + (answer?.granted ?? 0), 0)).toBe(2_000);
  });
});
