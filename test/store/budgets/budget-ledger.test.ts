import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { OwnedBudget } from "../../../domain/budget/budget.ts";
import { type LedgerLine, writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { lineFolding } from "../../../store/budgets/fold-lines.ts";
import { releaseBudgets } from "../../../store/budgets/release-budgets.ts";
import { prune } from "../../../store/retention.ts";
import { describeNightlyOnEachEngine, describeOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { ledgerInMemory } from "../../server/budgets/ledger.ts";
import { unique } from "../fixtures.ts";

const lineOf = (budget: string, fields: Partial<LedgerLine> = {}): LedgerLine => ({
  ...{ budget, period: "2026-11-01", endsAt: Date.UTC(2026, 11, 1), revision: 1 },
  ...{ spent: 0, held: 0, wanted: 0, most: 1_000 },
  ...fields,
});

describeNightlyOnEachEngine("The ledger of budgets", (store) => {
  const write = async (holder: string, line: LedgerLine) => (await writeLedger(store().db, holder, [line]))[0];

  test("b129: grants what is wanted or a fiftieth of what is left, and never more than that", async () => {
    const budget = unique("budget");
    expect(await write("a", lineOf(budget, { wanted: 5 }))).toMatchObject({ granted: 20, rest: 980, spent: 0 });
    expect(await write("b", lineOf(budget, { wanted: 981 }))).toMatchObject({ granted: 0, rest: 980, spent: 0 });
    expect(await write("b", lineOf(budget, { revision: 2, wanted: 980 }))).toMatchObject({
      granted: 980,
      rest: 0,
      spent: 0,
    });
    // What was not used goes back, and is there for the other.
    await write("b", lineOf(budget, { revision: 3, spent: 100 }));
    expect(await write("a", lineOf(budget, { revision: 2, held: 20, wanted: 880 }))).toMatchObject({ granted: 880 });
  });

  test("b129: the same line again changes nothing, nor does one that comes late", async () => {
    const budget = unique("budget");
    const line = lineOf(budget, { spent: 300, held: 10, wanted: 100 });
    expect(await write("a", line)).toMatchObject({ granted: 100, rest: 590, spent: 300 });
    expect(await write("a", line)).toMatchObject({ granted: 0, rest: 590, spent: 300 });
    expect(await write("a", lineOf(budget, { revision: 5, spent: 400, held: 10 }))).toMatchObject({
      ...{ granted: 0, rest: 590, spent: 400 },
    });
    expect(await write("a", lineOf(budget, { revision: 4, spent: 390, held: 500 }))).toMatchObject({
      ...{ granted: 0, rest: 590, spent: 400 },
    });
  });

  test("b129: a holder's next line makes good what a restore has lost", async () => {
    const budget = unique("budget");
    await write("a", lineOf(budget, { spent: 100 }));
    await write("a", lineOf(budget, { revision: 2, spent: 700, held: 50 }));
    await sql`update budget_ledger set turn = 1, spent = 100, held = 0 where budget = ${budget}`.execute(store().db);
    expect(await write("b", lineOf(budget))).toMatchObject({ rest: 900 });
    expect(await write("a", lineOf(budget, { revision: 3, spent: 700, held: 50 }))).toMatchObject({
      rest: 250,
      spent: 700,
    });
  });

  test("b130: a budget that is lowered goes on with what was used, and grants nothing beyond it", async () => {
    const budget = unique("budget");
    await write("a", lineOf(budget, { spent: 600 }));
    expect(await write("a", lineOf(budget, { revision: 2, spent: 600, wanted: 1, most: 500 }))).toMatchObject({
      ...{ granted: 0, rest: -100, spent: 600 },
    });
  });

  test("b129: does as the tests' ledger in memory, line after line", async () => {
    const amount = fc.integer({ min: 0, max: 2_000 });
    const lines = fc.array(
      fc.record({
        ...{ holder: fc.constantFrom("a", "b"), revision: fc.integer({ min: 1, max: 9 }) },
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

describeOnEachEngine("The lines of a budget that never resets", (store) => {
  const lasting = (budget: string, fields: Partial<LedgerLine> = {}) =>
    lineOf(budget, { period: "total", endsAt: Number.POSITIVE_INFINITY, ...fields });
  const write = async (holder: string, line: LedgerLine) => (await writeLedger(store().db, holder, [line]))[0];
  const linesOf = async (budget: string) => {
    const { rows } = await sql<{ holder: string; spent: number; held: number }>`
      select holder, spent::float8 as spent, held::float8 as held from budget_ledger where budget = ${budget}
      order by holder`.execute(store().db);
    return rows;
  };
  const passes = (budget: string, holders: string, age = "8 days") =>
    sql`update budget_ledger set written_at = written_at - ${age}::interval
      where budget = ${budget} and holder like ${holders}`.execute(store().db);

  test("are one of all threads that have ended, by which as much is spent and held as before", async () => {
    const [budget, other] = [unique("budget"), unique("budget")];
    for (const n of [1, 2, 3]) await write(`dead-${n}`, lasting(budget, { spent: 100, held: 10 }));
    await write("dead-1", lasting(other, { spent: 7 }));
    await write("dead-1", lineOf(budget, { spent: 5 }));
    for (const one of [budget, other]) await passes(one, "dead%");
    await write("alive", lasting(budget, { spent: 50, held: 5 }));
    const before = await write("alive", lasting(budget, { revision: 2, spent: 50, held: 5 }));
    const folding = lineFolding(store());
    expect(await folding.next()).toBe(0);
    expect(await folding.next()).toBe(4);
    const folded = [
      { holder: "alive", spent: 50, held: 5 },
      // Of a period that ends, which goes with it.
      { holder: "dead-1", spent: 5, held: 0 },
      { holder: "ended", spent: 300, held: 30 },
    ];
    expect(await linesOf(budget)).toEqual(folded);
    expect(await linesOf(other)).toEqual([{ holder: "ended", spent: 7, held: 0 }]);
    expect(await write("alive", lasting(budget, { revision: 3, spent: 50, held: 5 }))).toEqual(before);

    // What ends later is added, and nothing is folded twice.
    await write("later", lasting(budget, { spent: 20, held: 2 }));
    await passes(budget, "later");
    await folding.next();
    await Promise.all([folding.next(), lineFolding(store()).next()]);
    await folding.next();
    expect(await linesOf(budget)).toEqual(folded.with(2, { holder: "ended", spent: 320, held: 32 }));
  });

  test("keep those of a thread that writes again between two rounds, as after its machine slept", async () => {
    const budget = unique("budget");
    await write("slept", lasting(budget, { spent: 100 }));
    await passes(budget, "slept");
    const folding = lineFolding(store());
    await folding.next();
    await write("slept", lasting(budget, { revision: 2, spent: 110 }));
    await folding.next();
    await passes(budget, "slept", "6 days");
    await folding.next();
    await folding.next();
    expect(await linesOf(budget)).toEqual([{ holder: "slept", spent: 110, held: 0 }]);
  });

  test("give back what ended threads hold, folded or not", async () => {
    const budget: OwnedBudget = {
      ...{ id: unique("budget"), of: "key", tokens: 1_000 },
      ...{ period: "Total", timeZone: "UTC", onExhausted: "Refuse" },
    };
    for (const n of [1, 2]) await write(`dead-${n}`, lasting(budget.id, { spent: 100, held: 10 }));
    await passes(budget.id, "dead%");
    const folding = lineFolding(store());
    await folding.next();
    await folding.next();
    await write("dead-3", lasting(budget.id, { held: 5 }));
    await passes(budget.id, "dead-3", "1 hour");
    const released = await store()
      .db.transaction()
      .execute((tx) => releaseBudgets(tx, [budget], Date.now()));
    expect(released).toEqual([{ budget, released: 25 }]);
    expect(await write("next", lasting(budget.id))).toMatchObject({ rest: 800, spent: 200, silent: 0 });
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
