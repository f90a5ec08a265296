/** How far budgets are used, as the management API shows it. */
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BudgetJson } from "../../../server/management/budgets/budget-json.ts";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { forgetPolicies, savePolicy } from "../../../store/policies/key-policies.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { run, unique } from "../../store/fixtures.ts";
import { ownPage } from "../auth/session/sign-in.ts";
import { type Pages, startPages } from "../console/pages.ts";

describeNightlyOnEachEngine("The budgets of a key and of a team", (store) => {
  let api: Pages;
  beforeAll(async () => {
    api = await startPages(store());
  });
  afterAll(() => api.close());

  test("b135: are shown with what is used, held and left behind, to those who see the key and the team", async () => {
    const members = [{ role: "viewer", subject: "their-viewer" }];
    const total = { tokens: 1_000, period: "Total" };
    const made = async (spec: object) => {
      const team = unique("team");
      const { body } = await api.send("POST", "/teams", { name: team, spec: { members, ...spec } });
      const key = await api.send("POST", "/keys", { name: "agent", team, spec: { preset: "GatewayDefault", ...spec } });
      return { teamId: body.id, keyId: key.body.id };
    };
    const { teamId, keyId } = await made({ budgets: [total] });
    const line = { period: "total", endsAt: Number.POSITIVE_INFINITY, revision: 1, wanted: 0, most: 1_000 };
    await writeLedger(store().db, "one", [
      { ...line, budget: `key ${teamId} api//agent tokens Total`, spent: 790, held: 40 },
      { ...line, budget: `team ${teamId} tokens Total`, spent: 800, held: 0 },
    ]);
    const common = { limit: 1_000, unit: "tokens", period: "Total", timeZone: "UTC", onExhausted: "Refuse" };
    const ofKey = { ...common, used: 790, held: 40, lost: 0, reached: 50, beginsAnewAt: null, sharedBy: null };
    expect((await api.send("GET", `/keys/${keyId}/budgets`)).body).toEqual({ items: [ofKey] });
    expect((await api.send("GET", `/teams/${teamId}/budgets`)).body).toEqual({
      items: [{ ...ofKey, used: 800, held: 0, reached: 80 }],
    });
    const none = await made({});
    expect((await api.send("GET", `/keys/${none.keyId}/budgets`)).body).toEqual({ items: [] });
    expect((await api.send("GET", `/teams/${unique("team")}/budgets`)).status).toBe(404);
    const ask = async (person: string, path: string) => {
      const headers = ownPage(api, (await api.as(person)).browser);
      return (await fetch(`${api.url}/api/v1/${path}/budgets`, { headers })).status;
    };
    for (const path of [`keys/${keyId}`, `teams/${teamId}`]) {
      expect([await ask("their-viewer", path), await ask("a-stranger", path)]).toEqual([200, 404]);
    }
  });

  test("b149: are seen with those that a team shares, by the policy that says so", async () => {
    const [name, cluster] = [unique("team"), unique("c")];
    const own = { tokens: 100, period: "Day" };
    const team = (await api.send("POST", "/teams", { name, spec: { budgets: [own] } })).body;
    const shared = { tokens: 1_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;
    const spec = { teamSelector: { matchNames: [name] }, gracePeriod: "1h", sharedBudgets: [shared] };
    const policy = { ...{ cluster, uid: "uid", name: "staging" }, spec, teams: [], rules: [] };
    await run(store(), (tx) => savePolicy(tx, policy));
    const { items } = (await api.send("GET", `/teams/${team.id}/budgets`)).body;
    expect(items.map(({ limit, sharedBy }: BudgetJson) => [limit, sharedBy])).toEqual([
      [100, null],
      [1_000, "staging"],
    ]);
    const { text } = await api.get(`/team/${team.id}`);
    expect(text).toContain("shared by the teams of PlatformKeyPolicy <bdi>staging</bdi>");
    await run(store(), (tx) => forgetPolicies(tx, cluster));
  });

  test("b146: have back what ended servers held of them by the installation's own alone, who are named in the audit log", async () => {
    const [name, admin] = [unique("team"), "their-admin"];
    const members = [{ role: "admin", subject: admin }];
    const budgets = [{ cost: "10", currency: "USD", period: "Total" }];
    const team = (await api.send("POST", "/teams", { name, spec: { members, budgets } })).body;
    const key = (
      await api.send("POST", "/keys", { name: "agent", team: name, spec: { preset: "GatewayDefault", budgets } })
    ).body;
    const line = { period: "total", endsAt: Number.POSITIVE_INFINITY, revision: 1, wanted: 0, most: 10_000_000 };
    const ids = { keys: `key ${team.id} api//agent USD Total`, teams: `team ${team.id} USD Total` };
    await writeLedger(store().db, "ended", [
      { ...line, budget: ids.keys, spent: 1_000_000, held: 400_000 },
      { ...line, budget: ids.teams, spent: 1_000_000, held: 400_000 },
    ]);
    await sql`update budget_ledger set written_at = now() - interval '1 hour'
      where budget = any(${Object.values(ids)}::text[])`.execute(store().db);
    await writeLedger(store().db, "alive", [{ ...line, budget: ids.keys, spent: 0, held: 200_000 }]);
    const own = ownPage(api, (await api.as(admin)).browser);
    const headers = { ...own, "content-type": "application/json" };
    const refused = await fetch(`${api.url}/api/v1/keys/${key.id}/released-budgets`, {
      ...{ method: "POST", headers, body: "{}" },
    });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("Only the installation's own"),
    ]);
    expect((await api.send("GET", `/keys/${key.id}/budgets`)).body.items).toMatchObject([{ lost: 0.4, held: 0.2 }]);
    for (const [of, id] of [
      ["keys", key.id],
      ["teams", team.id],
    ] as const) {
      const { status, body } = await api.send("POST", `/${of}/${id}/released-budgets`, { reason: "it was killed" });
      expect([status, body.items]).toMatchObject([200, [{ limit: 10, unit: "USD", used: 1, lost: 0 }]]);
      // Once more changes nothing, and is no event.
      expect((await api.send("POST", `/${of}/${id}/released-budgets`, {})).status).toBe(200);
      const { text } = await api.send("POST", `/${of}/${id}/released-budgets`);
      expect(text, "as /openapi.json says, it needs no body").toBe(JSON.stringify(body));
    }
    expect((await api.send("GET", `/keys/${key.id}/budgets`)).body.items).toMatchObject([{ held: 0.2 }]);
    const events = await sql<{ kind: string; detail: object }>`select kind, detail from audit_events
      where team_id = ${team.id} and kind like '%.budget_released' order by kind`.execute(store().db);
    const detail = { released: 0.4, unit: "USD", period: "Total", why: "it was killed" };
    expect(events.rows).toMatchObject([
      { kind: "key.budget_released", detail },
      { kind: "team.budget_released", detail },
    ]);
  });

  test("b175: of what several teams share, the audit log says by which policy it was given back", async () => {
    const [name, cluster] = [unique("team"), unique("c")];
    const team = (await api.send("POST", "/teams", { name, spec: {} })).body;
    const shared = { tokens: 1_000, period: "Total", timeZone: "UTC", onExhausted: "Refuse" } as const;
    const spec = { teamSelector: { matchNames: [name] }, gracePeriod: "1h", sharedBudgets: [shared] };
    await run(store(), (tx) =>
      savePolicy(tx, { ...{ cluster, uid: "uid", name: "staging" }, spec, teams: [], rules: [] }),
    );
    const of = { budget: `policy ${cluster}/staging tokens Total`, period: "total" };
    const line = { ...of, endsAt: Number.POSITIVE_INFINITY, revision: 1, wanted: 0, most: 1_000, spent: 10, held: 40 };
    await writeLedger(store().db, "ended", [line]);
    await sql`update budget_ledger set written_at = now() - interval '1 hour' where budget = ${of.budget}`.execute(
      store().db,
    );
    expect((await api.send("POST", `/teams/${team.id}/released-budgets`, {})).status).toBe(200);
    const events = await sql`select detail from audit_events
      where team_id = ${team.id} and kind = 'team.budget_released'`.execute(store().db);
    expect(events.rows).toMatchObject([{ detail: { released: 40, policy: "staging" } }]);
    await run(store(), (tx) => forgetPolicies(tx, cluster));
  });
});
