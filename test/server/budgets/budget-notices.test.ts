/** What a thread has recorded of the budgets that it writes lines of. */
import { expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { BudgetNotices } from "../../../server/budgets/budget-notices.ts";
import { openBudgetGrants } from "../../../server/budgets/open-budget-grants.ts";
import { NO_PRICES } from "../../../server/usage/price-file.ts";
import type { LedgerAnswer, LedgerLine } from "../../../store/budgets/budget-ledger.ts";
import type { BudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam } from "../../store/fixtures.ts";
import { keyRecord, testClock } from "../harness.ts";
import { callOf, usedOf } from "./ledger.ts";

const BUDGET = "team team-a tokens Month";
const line = (fields: Partial<LedgerLine> = {}): LedgerLine => ({
  ...{ budget: BUDGET, period: "2026-11-01", endsAt: Date.UTC(2026, 11, 1), revision: 1 },
  ...{ spent: 0, held: 0, wanted: 0, most: 1_000 },
  ...fields,
});
const answer = (fields: Partial<LedgerAnswer> = {}): LedgerAnswer => ({
  ...{ granted: 0, rest: 0, spent: 0, silent: 0 },
  ...fields,
});

function watched() {
  const database = { isAway: false };
  const recorded: BudgetNotice[] = [];
  const warnings: string[] = [];
  const notices = new BudgetNotices({
    record: async (notice) => {
      if (database.isAway) throw new Error("the database is away");
      recorded.push(notice);
    },
    log: { warn: (_, message) => warnings.push(message) },
  });
  const note = async (one: Partial<LedgerLine>, said: Partial<LedgerAnswer>) => {
    notices.note([line(one)], [answer(said)]);
    await notices.settled();
    return recorded.map(({ percent, most }) => [percent, most]);
  };
  return { database, recorded, warnings, note };
}

test("b135: a thread has each threshold recorded once, and the highest of those that one line passes", async () => {
  const { note, recorded } = watched();
  expect(await note({}, { spent: 499 })).toEqual([]);
  expect(await note({}, { spent: 500 })).toEqual([[50, 1_000]]);
  expect(await note({}, { spent: 700 })).toEqual([[50, 1_000]]);
  // What a thread holds that has ended counts as used.
  expect(await note({}, { spent: 900, silent: 100 })).toEqual([
    [50, 1_000],
    [100, 1_000],
  ]);
  expect(recorded.at(-1)).toMatchObject({ used: 1_000, budget: BUDGET, period: "2026-11-01" });
  expect(await note({}, { spent: 1_000 })).toHaveLength(2);
});

test("b135: of a budget that has something back a thread has thresholds recorded anew, of which the store knows some", async () => {
  const { note } = watched();
  await note({}, { spent: 400, silent: 600 });
  expect(await note({}, { spent: 600 })).toEqual([
    [100, 1_000],
    [50, 1_000],
  ]);
  expect((await note({}, { spent: 1_000 })).at(-1)).toEqual([100, 1_000]);
});

test("b135: a budget that has something back has its threshold recorded anew, however far its use had gone on since", async () => {
  const { note } = watched();
  await note({}, { spent: 600, silent: 200 });
  await note({}, { spent: 750, silent: 200 });
  // The 200 are given back, and the store forgets 80 %.
  expect(await note({}, { spent: 830 })).toEqual([
    [80, 1_000],
    [80, 1_000],
  ]);
});

test("b135: a budget that is raised, and the next period, are reported anew", async () => {
  const { note } = watched();
  await note({}, { spent: 1_000 });
  expect(await note({ most: 2_000 }, { spent: 1_000 })).toEqual([
    [100, 1_000],
    [50, 2_000],
  ]);
  expect(await note({ period: "2026-12-01" }, { spent: 800 })).toHaveLength(3);
});

test("b135: a call that is refused with next to nothing left says that the budget is used up", async () => {
  const { note } = watched();
  expect(await note({ wanted: 41 }, { spent: 960, rest: 40 })).toEqual([[100, 1_000]]);
  expect(await watched().note({ wanted: 40 }, { granted: 40, spent: 960, rest: 0 })).toEqual([[80, 1_000]]);
});

test("b135: what could not be recorded is with the next line, and holds up nothing", async () => {
  const { note, database, warnings } = watched();
  database.isAway = true;
  expect(await note({}, { spent: 800 })).toEqual([]);
  expect(warnings).toHaveLength(1);
  database.isAway = false;
  expect(await note({}, { spent: 800 })).toEqual([[80, 1_000]]);
});

describeNightlyOnEachEngine("Threads of replicas that use a budget together", (store) => {
  test("b135: report each part of it once, also one that only their calls together reach, and none again as they start anew", async () => {
    const { teamId } = await makeTeam(store());
    const budgets = [{ tokens: 1_000, period: "Total", timeZone: "UTC", onExhausted: "Refuse" }] as const;
    const key = keyRecord({ teamId, teamLimits: { rate: null, concurrent: null, budgets } });
    for (const [used, percents] of [
      [200, []],
      [30, []],
      [40, [50]],
      [150, [50, 80]],
      [1, [50, 80]],
      [79, [50, 80, 100]],
    ] as const) {
      const threads = [open(), open()];
      for (const { budgets: grants } of threads) await spend(grants, key, used);
      await Promise.all(threads.map((thread) => thread.close()));
      expect(await reported(teamId)).toEqual(percents);
    }
  });

  const open = () =>
    openBudgetGrants({
      ...{ store: store(), clock: testClock(), prices: NO_PRICES },
      log: { warn: (_, message) => expect.fail(message) },
    });
  async function spend(grants: ReturnType<typeof open>["budgets"], key: KeyRecord, tokens: number): Promise<void> {
    const reservation = await grants.reserve(key, callOf(tokens));
    if ("kind" in reservation) throw new Error(`refused: ${reservation.kind}`);
    grants.settle(reservation, usedOf(tokens));
  }
  async function reported(teamId: string): Promise<unknown[]> {
    const events = await store()
      .db.selectFrom("audit_events")
      .select("detail")
      .where("team_id", "=", teamId)
      .where("kind", "=", "team.budget_reached")
      .orderBy("id")
      .execute();
    return events.map(({ detail }) => detail.percent);
  }
});
