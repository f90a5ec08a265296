/** What is reported of a budget that had back what an ended server held. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { OwnedBudget } from "../../../domain/budget/budget.ts";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { recordBudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { readUses } from "../../../store/budgets/read-budgets.ts";
import { releaseBudgets } from "../../../store/budgets/release-budgets.ts";
import { change } from "../../../store/database/change.ts";
import { databaseTime } from "../../../store/database/times.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam } from "../fixtures.ts";

describeNightlyOnEachEngine("A budget that has been given back what ended servers held", (store) => {
  test("b135: is not used up any more, and is reported again once it is", async () => {
    const { teamId } = await makeTeam(store());
    const budget: OwnedBudget = {
      ...{ id: `team ${teamId} tokens Total`, of: "team", tokens: 1_000 },
      ...{ period: "Total", timeZone: "UTC", onExhausted: "Refuse" },
    };
    const of = { budget: budget.id, period: "total", endsAt: Number.POSITIVE_INFINITY, most: 1_000 };
    // 100 calls under way, with a reservation of 6 each, as their server was killed.
    await writeLedger(store().db, "dead", [{ ...of, revision: 1, spent: 400, held: 600, wanted: 0 }]);
    await sql`update budget_ledger set written_at = now() - interval '1 hour' where budget = ${budget.id}`.execute(
      store().db,
    );
    const record = async () =>
      (await change(store(), null, (tx) => recordBudgetNotice(tx, { ...of, used: 1_000, percent: 100 }))).result;
    expect(await record()).toBe(true);
    const now = await databaseTime(store().db);
    await change(store(), null, (tx) => releaseBudgets(tx, [budget], now));
    expect(await readUses(store().db, [budget], now)).toMatchObject([{ spent: 400, unsettled: 0, reached: undefined }]);
    await writeLedger(store().db, "alive", [{ ...of, revision: 1, spent: 600, held: 0, wanted: 0 }]);
    expect(await record()).toBe(true);
  });
});
