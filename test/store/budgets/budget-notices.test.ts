/** Each threshold of a budget is reported once (docs/decisions/budgets.md). */
import { expect, test } from "vitest";
import type { WebhookEvent } from "../../../domain/webhook/webhook.ts";
import { type BudgetNotice, recordBudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { change } from "../../../store/database/change.ts";
import { prune } from "../../../store/retention.ts";
import { saveTeam, type TeamDraft } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { deliveriesOf, SECRET } from "../../server/webhooks/fixtures.ts";
import { makeTeam, reserveKey, teamDraft, unique } from "../fixtures.ts";

const EVENTS: readonly WebhookEvent[] = ["key.budget_reached", "team.budget_reached"];
const DECEMBER = Date.UTC(2026, 11, 1);
const notice = (budget: string, fields: Partial<BudgetNotice> = {}): BudgetNotice => ({
  ...{ budget, period: "2026-11-01", most: 1_000, used: 800, percent: 80, endsAt: DECEMBER },
  ...fields,
});

describeNightlyOnEachEngine("That much of a budget is used", (store) => {
  const record = async (one: BudgetNotice) => (await change(store(), null, (tx) => recordBudgetNotice(tx, one))).result;
  const auditOf = (teamId: string) =>
    store()
      .db.selectFrom("audit_events")
      .select(["kind", "key_id", "actor", "detail"])
      .where("team_id", "=", teamId)
      .where("kind", "like", "%budget%")
      .orderBy("id")
      .execute();
  async function notifiedTeam() {
    const webhooks: TeamDraft["webhooks"] = [{ url: "https://hooks.example.com/x", events: EVENTS, secret: SECRET }];
    const draft = teamDraft({ namespaces: [unique("ns")], webhooks });
    const { result } = await change(store(), null, (tx) => saveTeam(tx, draft, keyring));
    return { ...draft, ...result, namespace: draft.namespaces[0] ?? "" };
  }

  test("b135: is recorded and sent once for each part, period and size, however many ask, and not below what is", async () => {
    const team = await notifiedTeam();
    const budget = `team ${team.teamId} tokens Month`;
    const asked = await Promise.all([record(notice(budget)), record(notice(budget)), record(notice(budget))]);
    expect(asked.toSorted()).toEqual([false, false, true]);
    // 50 counts as reported with it.
    expect(await record(notice(budget, { percent: 50 }))).toBe(false);
    expect(await record(notice(budget, { percent: 100, used: 1_000 }))).toBe(true);
    // The next period, and a budget that was raised.
    expect(await record(notice(budget, { period: "2026-12-01" }))).toBe(true);
    expect(await record(notice(budget, { most: 2_000, used: 1_000, percent: 50 }))).toBe(true);
    const events = await auditOf(team.teamId);
    expect(events).toHaveLength(4);
    expect(events[0]).toMatchObject({
      ...{ kind: "team.budget_reached", key_id: null, actor: "server" },
      detail: {
        percent: 80,
        limit: 1_000,
        used: 800,
        unit: "tokens",
        period: "Month",
        beginsAnewAt: "2026-12-01T00:00:00Z",
      },
    });
    const deliveries = await deliveriesOf(store(), team.teamId);
    expect(deliveries.map(({ event, data, key_id }) => ({ event, key_id, percent: data.percent }))).toEqual([
      { event: "team.budget_reached", key_id: null, percent: 80 },
      { event: "team.budget_reached", key_id: null, percent: 100 },
      { event: "team.budget_reached", key_id: null, percent: 80 },
      { event: "team.budget_reached", key_id: null, percent: 50 },
    ]);
    expect(deliveries[0]?.data).toMatchObject({ team: team.name, teamId: team.teamId });
  });

  test("b135: names the key of the budget, by the name that it is counted for", async () => {
    const team = await notifiedTeam();
    const { key } = await reserveKey(store(), team);
    const budget = `key ${team.teamId} ${team.cluster}/${team.namespace}/${key.name} tokens Total`;
    expect(await record(notice(budget, { period: "total", endsAt: Number.POSITIVE_INFINITY }))).toBe(true);
    expect(await auditOf(team.teamId)).toMatchObject([
      { kind: "key.budget_reached", key_id: key.id, detail: { beginsAnewAt: null, period: "Total" } },
    ]);
    expect(await deliveriesOf(store(), team.teamId)).toMatchObject([
      { event: "key.budget_reached", key_id: key.id, data: { keyId: key.id, name: key.name, percent: 80 } },
    ]);
  });

  test("is of no budget whose owner cannot be found", async () => {
    const team = await makeTeam(store());
    expect(await record(notice(`key ${team.teamId} ${team.cluster}/ns/gone tokens Day`))).toBe(false);
    expect(await record(notice("of a later build"))).toBe(false);
    expect(await auditOf(team.teamId)).toEqual([]);
  });

  test("is forgotten once its period is over for as long as the retention", async () => {
    const { teamId } = await makeTeam(store());
    await record(notice(`team ${teamId} tokens Day`, { endsAt: Date.now() - 120_000 }));
    expect((await prune(store(), 60_000)).budgets).toBeGreaterThanOrEqual(2);
  });
});
