/** Budgets that another transaction has locked, beside those of other teams (threats b178). */
import { type RawBuilder, sql } from "kysely";
import { expect, test } from "vitest";
import type { Budget } from "../../../domain/budget/budget.ts";
import { MAX_LINES, writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
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

  test.each(WAYS)("b178: by %s, calls of other teams are let through, and its own later", async (_, lock) => {
    const clock = testClock();
    const thread = budgetsOn((holder, lines) => writeLedger(store().db, holder, lines), clock, {
      mostLines: MAX_LINES,
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
    // More than each holds: all are asked for.
    const calls = [owner, ...others].map((one) => reserve(one, 500));
    expect(await Promise.all(calls)).toEqual(["busy", ...others.map(() => "reserved")]);
    await thread.endRound();
    expect(await reserve(unique("another c/ns/k"), 500)).toBe("reserved");
    released.resolve();
    await other;
    clock.advance(600);
    expect(await reserve(owner, 500)).toBe("reserved");
  });
});
