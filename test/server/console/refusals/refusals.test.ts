import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appendRefusals } from "../../../../store/audit/refusals.ts";
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

const BUDGET = expect.stringContaining("when the budget begins anew");
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
