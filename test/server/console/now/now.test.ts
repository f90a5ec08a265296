import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseTime } from "../../../../store/database/times.ts";
import { recordOutcomes } from "../../../../store/gateways/upstream-outcomes.ts";
import { registerReplica } from "../../../../store/replicas/replicas.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
let key: { readonly id: string; readonly secret: string };
let gatewayId: string;
beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "admin", subject: "alice" }] } });
  const spec = { preset: "MCPReadOnly" };
  key = (await pages.send("POST", "/keys", { name: "leaked", team: "payments", spec })).body;
  const upstreams = [{ name: "primary", dialect: "openai", baseURL: "https://models.example", credential: "sk-any" }];
  gatewayId = (await pages.send("POST", "/gateways", { name: "models", team: "payments", spec: { upstreams } })).body
    .id;
});
afterAll(() => pages.close());

const sectionOf = async (id: string): Promise<string> =>
  new RegExp(`aria-labelledby="${id}".*?</section>`, "s").exec((await pages.get("/now")).text)?.[0] ?? "";

test("What the installation does now is shown to those who run it, and to no one else, nor is the way there", async () => {
  const alice = await pages.as("alice");
  expect((await alice.get("/now")).status).toBe(404);
  expect((await alice.get("/keys")).text).not.toContain("/dashboard/now");
  expect((await pages.get("/keys")).text).toContain('href="/dashboard/now"');
  expect((await pages.get("/now")).status).toBe(200);
});

test("What is in order is said in one place", async () => {
  const inOrder = await sectionOf("in-order");
  for (const said of [
    "No key that was reported as leaked works.",
    "No upstream refuses its credential.",
    "Each upstream that was called in the last hour answered.",
    "No delivery that is kept has failed.",
    "No budget is used to 80 %.",
  ]) {
    expect(inOrder).toContain(said);
  }
  expect(await sectionOf("leaks")).toBe("");
});

test("A server that is silent is named, with what that means; one that serves with how far it is behind", async () => {
  const { db } = pages.store;
  await registerReplica(pages.store, "server-alive");
  await registerReplica(pages.store, "server-gone");
  await db
    .updateTable("replicas")
    .set({ seen_at: new Date(0) })
    .where("id", "=", "server-gone")
    .execute();
  const servers = await sectionOf("servers");
  expect(servers).toMatch(/server-gone.*?Silent.*?changes wait for it/s);
  expect(servers).toMatch(/server-alive.*?Serves/s);
  await db.deleteFrom("replicas").where("id", "in", ["server-gone", "server-alive"]).execute();
});

test("A key that was reported as leaked and works is named, until it is revoked", async () => {
  expect((await pages.send("POST", "/leaks", { leaks: [{ key: key.secret }] })).status).toBe(200);
  const leaks = await sectionOf("leaks");
  expect(leaks).toContain(`<a href="/dashboard/keys/${key.id}">leaked</a>`);
  expect(leaks).toMatch(/<a href="\/dashboard\/team\/[^"]+">payments<\/a>/);
  expect(leaks).toContain(`<a href="/dashboard/keys/${key.id}/rotate">Rotate</a>`);
  await pages.send("POST", `/keys/${key.id}/revoke`, {});
  expect(await sectionOf("leaks")).not.toContain(key.id);
});

test("An upstream that gave no answer at last is named with why, until it answers", async () => {
  const { db } = pages.store;
  const nothing = { answeredAt: null, status: null, failedAt: null, failure: null, acceptedAt: null, refusedAt: null };
  const of = { gatewayId, upstream: "primary", ...nothing };
  const now = await databaseTime(db);
  await recordOutcomes(db, [{ ...of, failedAt: now, failure: "The upstream did not answer in time." }]);
  expect(await sectionOf("upstreams")).toMatch(/models.*?primary.*?did not answer in time.*?never answered/s);
  await recordOutcomes(db, [{ ...of, answeredAt: now + 1, status: 200 }]);
  expect(await sectionOf("upstreams")).not.toContain("primary");
});
