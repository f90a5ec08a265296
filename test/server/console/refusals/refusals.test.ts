import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { periodAt } from "../../../../domain/budget/period.ts";
import { absolute } from "../../../../server/console/times.ts";
import { appendRefusals } from "../../../../store/audit/refusals.ts";
import { writeLedger } from "../../../../store/budgets/budget-ledger.ts";
import { type Pages, startPages, type Visitor } from "../pages.ts";

let pages: Pages;
const MINUTE = 60_000;

beforeAll(async () => {
  pages = await startPages();
  const members = [{ role: "viewer", subject: "vera" }];
  const teams = [
    (await pages.send("POST", "/teams", { name: "payments", spec: { members } })).body,
    (await pages.send("POST", "/teams", { name: "research", spec: {} })).body,
  ];
  const refusals = [];
  for (const [i, { id: teamId, name: team }] of teams.entries()) {
    const wanted = { name: `caller-${i}`, team, spec: { preset: "GatewayDefault" } };
    const { id: keyId } = (await pages.send("POST", "/keys", wanted)).body;
    const of = (reason: string, count: number, minutes: number, network: string) => ({
      ...{ keyId, teamId, actor: "replica:a", at: Date.now() - minutes * MINUTE },
      detail: { reason, count, network },
    });
    refusals.push(of("rate_limited", 40, 3, "192.0.2.0/24"), of("rate_limited", 2, 2, "198.51.100.0/24"));
    refusals.push(of("team_budget_exceeded", 7, 1, "192.0.2.0/24"), of("model_not_allowed", 9, 90, "192.0.2.0/24"));
  }
  refusals.push({
    ...{ keyId: null, teamId: null, actor: "replica:a", at: Date.now() },
    detail: { reason: "malformed", count: 3, network: "203.0.113.0/24" },
  });
  await appendRefusals(pages.store, refusals);
});
afterAll(() => pages.close());

/** The cells of the page's table, row by row, without how long ago. */
async function rowsOf(search: string, visitor: Visitor = pages): Promise<string[][]> {
  const { status, text } = await visitor.get(`/refusals${search}`);
  expect(status).toBe(200);
  const rows = text.split("<tr>").slice(2);
  return rows.map((row) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)(?=<t[dh])/gs)]
      .map(([, cell = ""]) =>
        cell
          .replace(/<[^>]+>/g, " ")
          .replace(/\s+/g, " ")
          .trim(),
      )
      .slice(0, 5),
  );
}

const BUDGET = expect.stringContaining("when the budget resets");
const ROOM = expect.stringContaining("There is room again within a minute.");

describe("the page of refusals", () => {
  test("has who was refused within the hour, why, what to do and from where, the last first", async () => {
    expect(await rowsOf("")).toEqual([
      ["No key that is known", "Malformed", expect.stringContaining("correct what sends it"), "3", "203.0.113.0/24"],
      ["caller-1 research", "Team budget exceeded", BUDGET, "7", "192.0.2.0/24"],
      ["caller-0 payments", "Team budget exceeded", BUDGET, "7", "192.0.2.0/24"],
      ["caller-1 research", "Rate limited", ROOM, "42", "198.51.100.0/24 192.0.2.0/24"],
      ["caller-0 payments", "Rate limited", ROOM, "42", "198.51.100.0/24 192.0.2.0/24"],
    ]);
  });

  test("has those of a team, and of a day", async () => {
    expect((await rowsOf("?team=payments&last=day")).map(([who, cause]) => [who, cause])).toEqual([
      ["caller-0 payments", "Team budget exceeded"],
      ["caller-0 payments", "Rate limited"],
      ["caller-0 payments", "Model not allowed"],
    ]);
  });

  test("has for a member their own team's, and none of another team or of no team", async () => {
    const vera = await pages.as("vera");
    expect((await rowsOf("?last=day", vera)).map(([who]) => who)).toEqual(Array(3).fill("caller-0 payments"));
    expect(await rowsOf("?team=research", vera)).toEqual([]);
    expect((await (await pages.as("stranger")).get("/refusals")).text).toContain("No request was refused");
  });

  test("says until when a budget and a limit refuse, on the key's page too", async () => {
    const budget = { tokens: 5_000_000, period: "Month" };
    const team = (await pages.send("POST", "/teams", { name: "spent", spec: { budgets: [budget] } })).body;
    const endless = { preset: "GatewayDefault", budgets: [{ tokens: 1_000, period: "Total" }] };
    const key = (await pages.send("POST", "/keys", { name: "spender", team: "spent", spec: endless })).body;
    const { name, endsAt } = periodAt("Month", "UTC", Date.now());
    const { rows } = await sql<{ owner: string }>`
      select budgets ->> 'owner' as owner from key_records where key_id = ${key.id}`.execute(pages.store.db);
    const amounts = { held: 0, wanted: 0, revision: 1 };
    await writeLedger(pages.store.db, "one", [
      ...[{ ...amounts, budget: `team ${team.id} tokens Month`, period: name, endsAt, spent: 5e6, most: 5e6 }],
      ...rows.map(({ owner }) => ({
        ...{ ...amounts, budget: `key ${owner} tokens Total`, period: "total", endsAt: Number.POSITIVE_INFINITY },
        ...{ spent: 1_000, most: 1_000 },
      })),
    ]);
    const refused = (reason: string, minutes: number, until?: string) => ({
      ...{ keyId: key.id, teamId: team.id, actor: "replica:a", at: Date.now() - minutes * MINUTE },
      detail: { reason, count: 1, network: "192.0.2.0/24", ...(until && { until }) },
    });
    const paidAt = new Date((Math.ceil(Date.now() / MINUTE) + 50) * MINUTE - 1_500).toISOString();
    const paidBefore = new Date(Date.now() - 2 * MINUTE).toISOString();
    await appendRefusals(pages.store, [
      ...[refused("team_budget_exceeded", 5), refused("budget_exceeded", 6)],
      ...[refused("rate_limited", 0), refused("team_rate_limited", 7)],
      ...[refused("token_limited", 9, paidBefore), refused("token_limited", 8, paidAt)],
      ...[refused("team_token_limited", 4, paidBefore), refused("route_token_limited", 4)],
    ]);
    const anew = `Until ${absolute(new Date(endsAt).toISOString())}`;
    const page = (await pages.get(`/keys/${key.id}`)).text.split('id="refused"')[1]?.split("</section>")[0] ?? "";
    const words = page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    const advices = (await rowsOf("?team=spent")).map(([, cause, advice]) => `${cause}: ${advice}`).join("\n");
    for (const text of [words, advices]) {
      expect(text).toContain(anew);
      expect(text).toContain(", when 5,000,000 tokens a month (UTC) reset ");
      expect(text).toContain("Until the budget is raised: 1,000 tokens in all do not reset ");
      expect(text).toMatch(/Rate limited:? Until [\w :,]+ UTC \([\w ]+\) at the latest /);
      expect(text).toMatch(/Team rate limited:? Over since [\w :,]+ UTC \(\d minutes ago\) /);
      const nextMinute = absolute(new Date(Date.parse(paidAt) + 1_500).toISOString());
      expect(text).toMatch(
        new RegExp(`Token limited:? Until ${nextMinute} \\(in \\d+ minutes\\) ?, if nothing more is used before `),
      );
      expect(text).toMatch(/Team token limited:? Over since [\w :,]+ UTC \([\w ]+\) There is room again/);
      expect(text).toMatch(/Route token limited:? There is room again once time has paid /);
    }
  });

  test("says how far back it has looked where there are more than it adds up", async () => {
    const more = Array.from({ length: 1_001 }, (_, i) => ({
      ...{ keyId: null, teamId: null, actor: "replica:a", at: Date.now() - 10 * MINUTE - i },
      detail: { reason: "unknown", count: 1, network: `10.${i >> 8}.${i & 255}.0/24` },
    }));
    for (let i = 0; i < more.length; i += 250) await appendRefusals(pages.store, more.slice(i, i + 250));
    const { text } = await pages.get("/refusals");
    expect(text).toContain("There are too many to look through: only those since");
    expect((await rowsOf("")).at(-1)?.[4]).toMatch(/and 9\d\d more$/);
  });
});
