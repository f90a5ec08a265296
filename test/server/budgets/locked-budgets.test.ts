/** Budgets that another transaction has locked, beside those of other teams (threats b178). */
import { type RawBuilder, sql } from "kysely";
import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import { MAX_LINES, writeLedger } from "../../../store/budgets/budget-ledger.ts";
import type { Db } from "../../../store/database/change.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { farDatabase } from "../../env/database/far-database.ts";
import { unique } from "../../store/fixtures.ts";
import { keyRecord, testClock } from "../harness.ts";
import { budgetsOn, callOf } from "./ledger.ts";

const ITEMS: readonly Budget[] = [{ tokens: 1_000, period: "Total", timeZone: "UTC", onExhausted: "Refuse" }];
const kindOf = (answer: object) => ("kind" in answer ? answer.kind : "reserved");

describeOnEitherEngine("While another transaction has a budget locked", (store) => {
  const WAYS: readonly [string, (budget: string) => RawBuilder<unknown>][] = [
    ["the thread's row", (budget) => sql`select 1 from budget_ledger where budget = ${budget} for update`],
    [
      "the budget",
      (budget) => sql`select pg_advisory_xact_lock(hashtextextended(budget || ' ' || period, 0))
        from budget_ledger where budget = ${budget}`,
    ],
  ];

  test.each(WAYS)("b178: by %s, calls of other teams are let through, and its own later", (_, lock) =>
    letThrough(store().db, lock),
  );

  test.each(WAYS)("b210: by %s, the same holds where the database is at a distance", (_, lock) =>
    letThrough(farDatabase(store().db), lock),
  );

  async function letThrough(db: Db, lock: (budget: string) => RawBuilder<unknown>): Promise<void> {
    const clock = testClock();
    const thread = budgetsOn((holder, lines) => writeLedger(db, holder, lines), clock, {
      mostLines: MAX_LINES,
      answerMs: 60_000,
    });
    const reserve = async (owner: string, tokens: number) => {
      const teamId = owner.slice(0, owner.indexOf(" "));
      return kindOf(await thread.reserve(keyRecord({ teamId, budgets: { owner, items: ITEMS } }), callOf(tokens)));
    };
    const owners = Array.from({ length: 60 }, (_, i) => unique(`team-${i} c/ns/k`));
    const [owner = "", ...others] = owners;
    await Promise.all(owners.map((one) => reserve(one, 1)));
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = store()
      .db.transaction()
      .execute(async (tx) => {
        await lock(`key ${owner} tokens Total`).execute(tx);
        locked.resolve();
        await released.promise;
      });
    await locked.promise;
    // More than each holds: all are asked for, those beyond the first two by statements of several.
    const [first = "", second = "", ...rest] = others;
    const answers = await Promise.all([first, second, owner, ...rest].map((one) => reserve(one, 500)));
    await thread.endRound();
    const next = await reserve(unique("another c/ns/k"), 500);
    released.resolve();
    await other;
    expect(answers).toEqual(["reserved", "reserved", "busy", ...rest.map(() => "reserved")]);
    expect(next).toBe("reserved");
    clock.advance(600);
    expect(await reserve(owner, 500)).toBe("reserved");
  }
});
