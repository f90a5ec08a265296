import { afterAll, beforeAll, expect, test } from "vitest";
import { type Pages, startPages, type Visitor } from "../pages.ts";

/** Of no shape of ours, as one that was imported may be. */
const IMPORTED = `inf_${"legacy-secret-of-before".padEnd(40, "x")}`;

let pages: Pages;
let alice: Visitor;
let made: { readonly id: string; readonly secret: string };
let imported: { readonly id: string };

beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "viewer", subject: "alice" }] } });
  await pages.send("POST", "/teams", { name: "research", spec: { members: [{ role: "admin", subject: "bob" }] } });
  const spec = { preset: "MCPReadOnly" };
  made = (await pages.send("POST", "/keys", { name: "agent", team: "payments", spec })).body;
  const sha256 = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(IMPORTED))).toString("hex");
  const hash = { sha256, prefix: IMPORTED.slice(0, 12) };
  const answer = await pages.send("POST", "/keys", { name: "old", team: "payments", spec, source: { hash } });
  expect(answer.status, answer.text).toBe(201);
  imported = answer.body;
  alice = await pages.as("alice");
});
afterAll(() => pages.close());

const find = (visitor: Visitor, secret: string) => visitor.post("/keys/find", { secret });

test("A key is found by its whole secret, of any shape that was imported too, by who may see it", async () => {
  for (const [secret, { id }] of [
    [made.secret, made],
    [` ${made.secret}\n`, made],
    [IMPORTED, imported],
  ] as const) {
    const { status, headers } = await find(alice, secret);
    expect([status, headers.get("location")]).toEqual([303, `/dashboard/keys/${id}`]);
  }
});

test("Another team's key is not there, as one that does not exist; and what was typed is nowhere in the answer", async () => {
  const bob = await pages.as("bob");
  const others = await find(bob, made.secret);
  const none = await find(bob, `${made.secret.slice(0, -1)}x`);
  expect([others.status, none.status]).toEqual([404, 404]);
  const withoutTokens = (text: string) => text.replace(/value="[^"]*"/g, "");
  expect(withoutTokens(others.text)).toBe(withoutTokens(none.text));
  expect(others.text).not.toContain(made.secret.slice(0, 20));
  expect((await find(bob, "")).status).toBe(422);
  expect((await find(bob, "x".repeat(10_000))).status).toBe(404);
});
