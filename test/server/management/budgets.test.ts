/** How far budgets are used, as the management API shows it. */
import { expect, test } from "vitest";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { describeOnEachEngine } from "../../env/database/engines.ts";
import { unique } from "../../store/fixtures.ts";
import { ownPage } from "../auth/session/sign-in.ts";
import { startPages } from "../console/pages.ts";

describeOnEachEngine("The budgets of a key and of a team", (store) => {
  test("b135: are shown with what is used, held and left behind, to those who see the key and the team", async (context) => {
    const api = await startPages(store());
    context.onTestFinished(() => api.close());
    const members = [{ role: "viewer", subject: "their-viewer" }];
    const total = { tokens: 1_000, period: "Total" };
    const made = async (spec: object) => {
      const team = unique("team");
      const { body } = await api.send("POST", "/teams", { name: team, spec: { members, ...spec } });
      const key = await api.send("POST", "/keys", { name: "agent", team, spec: { preset: "GatewayDefault", ...spec } });
      return { teamId: body.id, keyId: key.body.id };
    };
    const { teamId, keyId } = await made({ budgets: [total] });
    const line = { period: "total", endsAt: Number.POSITIVE_INFINITY, turn: 1, wanted: 0, most: 1_000 };
    await writeLedger(store().db, "one", [
      { ...line, budget: `key ${teamId} api//agent tokens Total`, spent: 790, held: 40 },
      { ...line, budget: `team ${teamId} tokens Total`, spent: 800, held: 0 },
    ]);
    const common = { limit: 1_000, unit: "tokens", period: "Total", timeZone: "UTC", onExhausted: "Refuse" };
    const ofKey = { ...common, used: 790, held: 40, lost: 0, reached: 50, beginsAnewAt: null };
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
});
