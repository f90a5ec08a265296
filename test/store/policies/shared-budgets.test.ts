/** What teams share by the policies that select them (docs/decisions/budgets.md). */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import type { PlatformKeyPolicySpec } from "../../../domain/kinds/generated/platform-key-policy.ts";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { recordBudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { nearBudgets } from "../../../store/budgets/near-budgets.ts";
import { change } from "../../../store/database/change.ts";
import { databaseTime } from "../../../store/database/times.ts";
import {
  forgetPolicies,
  removePolicies,
  renewSharedBudgets,
  savePolicy,
  saveUnreadablePolicies,
} from "../../../store/policies/key-policies.ts";
import { readTeams } from "../../../store/teams/team-records.ts";
import { saveTeam, type TeamDraft } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { run, teamDraft, unique } from "../fixtures.ts";

const MONTHLY = { tokens: 1_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;
const STAGING: PlatformKeyPolicySpec["teamSelector"] = {
  matchExpressions: [{ key: "tier", operator: "In", values: ["staging"] }],
};

describeNightlyOnEachEngine("b149: budgets that teams share", (store) => {
  const declare = (cluster: string, spec: Partial<PlatformKeyPolicySpec>, name = "production", uid = `uid-${name}`) =>
    run(store(), (tx) =>
      savePolicy(tx, {
        ...{ cluster, uid, name, teams: [], rules: [] },
        spec: { teamSelector: {}, gracePeriod: "1h", sharedBudgets: [MONTHLY], ...spec } as PlatformKeyPolicySpec,
      }),
    );
  async function save(draft: TeamDraft): Promise<string> {
    return (await change(store(), null, (tx) => saveTeam(tx, draft, keyring))).result.teamId;
  }
  const sharedBy = async (teamId: string) =>
    (await run(store(), (tx) => readTeams(tx, [teamId]))).flatMap(({ limits }) =>
      (limits?.shared ?? []).map(({ owner, items }) => [owner, ...items]),
    );
  const place = () => ({ cluster: unique("c"), namespaces: [unique("ns")] });

  test("are those of each policy that selects the team, from when either comes or changes", async () => {
    const draft = teamDraft({ ...place(), labels: { tier: "staging" } });
    const { cluster } = draft;
    const before = await save(draft);
    expect(await sharedBy(before)).toEqual([]);
    await declare(cluster, { teamSelector: STAGING });
    expect(await sharedBy(before)).toEqual([[`${cluster}/production`, MONTHLY]]);
    const other = teamDraft({ cluster, namespaces: [], name: unique("other"), labels: { tier: "production" } });
    const otherId = await save(other);
    expect(await sharedBy(otherId)).toEqual([]);
    // A label is changed, and a second policy made.
    await save({ ...other, labels: { tier: "staging" }, generation: 2 });
    await declare(cluster, { sharedBudgets: [{ ...MONTHLY, tokens: 5 }] }, "second");
    const both = [
      [`${cluster}/production`, MONTHLY],
      [`${cluster}/second`, { ...MONTHLY, tokens: 5 }],
    ];
    expect([await sharedBy(before), await sharedBy(otherId)]).toEqual([both, both]);
    await run(store(), (tx) => removePolicies(tx, cluster, ["uid-production"]));
    expect(await sharedBy(before)).toEqual(both.slice(1));
    await run(store(), (tx) => forgetPolicies(tx, cluster));
    expect([await sharedBy(before), await sharedBy(otherId)]).toEqual([[], []]);
  });

  test("stay as they are while a policy cannot be read, and are of its cluster's teams and of those made by hand alone", async () => {
    const draft = teamDraft(place());
    const { cluster } = draft;
    const teamId = await save(draft);
    const elsewhere = await save(teamDraft(place()));
    const byHand = await save(teamDraft({ cluster: API_CLUSTER, namespaces: [], name: unique("hand") }));
    await declare(cluster, {});
    const shared = [[`${cluster}/production`, MONTHLY]];
    expect([await sharedBy(teamId), await sharedBy(elsewhere), await sharedBy(byHand)]).toEqual([shared, [], shared]);
    await run(store(), (tx) => saveUnreadablePolicies(tx, cluster, ["uid-production"]));
    await save({ ...draft, displayName: "Changed", generation: 2 });
    expect(await sharedBy(teamId)).toEqual(shared);
    await run(store(), (tx) => forgetPolicies(tx, cluster));
    expect(await sharedBy(byHand)).toEqual([]);
  });

  test("b170: are those of the policies that can be read, while another cannot", async () => {
    const draft = teamDraft(place());
    const { cluster } = draft;
    const before = await save(draft);
    await declare(cluster, {});
    await run(store(), (tx) => saveUnreadablePolicies(tx, cluster, ["uid-production"]));
    await declare(cluster, { sharedBudgets: [{ ...MONTHLY, tokens: 5 }] }, "second");
    const [production, second] = [
      [`${cluster}/production`, MONTHLY],
      [`${cluster}/second`, { ...MONTHLY, tokens: 5 }],
    ];
    const later = await save(teamDraft({ cluster, namespaces: [], name: unique("later") }));
    expect([await sharedBy(before), await sharedBy(later)]).toEqual([[production, second], [second]]);
    // The name of one that is made again and cannot be read is not known: it may be this one.
    await run(store(), async (tx) => {
      await saveUnreadablePolicies(tx, cluster, ["uid-unknown"]);
      await removePolicies(tx, cluster, ["uid-production", "uid-second"]);
    });
    expect(await sharedBy(before)).toEqual([production, second]);
    await run(store(), (tx) => removePolicies(tx, cluster, ["uid-unknown"]));
    expect([await sharedBy(before), await sharedBy(later)]).toEqual([[], []]);
  });

  test("b170: are those of the last of two policies of a name, where one was made again", async () => {
    const draft = teamDraft(place());
    const { cluster } = draft;
    const teamId = await save(draft);
    await declare(cluster, {});
    await declare(cluster, { sharedBudgets: [{ ...MONTHLY, tokens: 5 }] }, "production", "uid-again");
    expect(await sharedBy(teamId)).toEqual([[`${cluster}/production`, { ...MONTHLY, tokens: 5 }]]);
    await run(store(), (tx) => removePolicies(tx, cluster, ["uid-production"]));
    expect(await sharedBy(teamId)).toEqual([[`${cluster}/production`, { ...MONTHLY, tokens: 5 }]]);
    await run(store(), (tx) => forgetPolicies(tx, cluster));
  });

  test("b174: are found anew where a build has saved teams or policies that knows of none", async () => {
    const { cluster } = place();
    const save = (name: string) =>
      run(store(), (tx) => saveTeam(tx, teamDraft({ cluster: API_CLUSTER, namespaces: [], name }), keyring));
    const teams = [(await save(unique("hand"))).teamId, (await save(unique("hand"))).teamId];
    await declare(cluster, {});
    await sql`update teams set shared_budgets = null where id = ${teams[0]}`.execute(store().db);
    await run(store(), (tx) => renewSharedBudgets(tx, cluster));
    const shared = [[`${cluster}/production`, MONTHLY]];
    expect(await Promise.all(teams.map(sharedBy))).toEqual([shared, shared]);
    await store().db.deleteFrom("key_policies").where("cluster", "=", cluster).execute();
    await run(store(), (tx) => renewSharedBudgets(tx, cluster));
    expect(await Promise.all(teams.map(sharedBy))).toEqual([[], []]);
  });

  test("are seen by each of the teams, and by those who run the installation once", async () => {
    const draft = teamDraft(place());
    const { cluster } = draft;
    const teamIds = [await save(draft), await save(teamDraft({ cluster, namespaces: [], name: unique("other") }))];
    await declare(cluster, { sharedBudgets: [{ ...MONTHLY, period: "Total" }] });
    const of = {
      ...{ budget: `policy ${cluster}/production tokens Total`, period: "total" },
      ...{ endsAt: Number.POSITIVE_INFINITY, most: 1_000 },
    };
    await writeLedger(store().db, "a thread", [{ ...of, revision: 1, spent: 850, held: 0, wanted: 0 }]);
    const notice = { ...of, used: 850, percent: 80 } as const;
    expect((await change(store(), null, (tx) => recordBudgetNotice(tx, notice))).result).toBe(true);
    expect((await change(store(), null, (tx) => recordBudgetNotice(tx, notice))).result).toBe(false);
    const events = await store()
      .db.selectFrom("audit_events")
      .select(["team_id", "detail"])
      .where("kind", "=", "team.budget_reached")
      .where("team_id", "in", teamIds)
      .execute();
    expect(events.map(({ team_id }) => team_id).toSorted()).toEqual(teamIds.toSorted());
    expect(events[0]?.detail).toMatchObject({ percent: 80, used: 850, policy: "production" });
    const near = await nearBudgets(store().db, await databaseTime(store().db), 100);
    expect(near.filter(({ budget }) => budget.id === of.budget)).toMatchObject([
      { key: null, team: null, spent: 850, budget: { policy: "production" } },
    ]);
    await run(store(), (tx) => forgetPolicies(tx, cluster));
  });
});
