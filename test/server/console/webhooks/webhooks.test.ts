import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../../env/until.ts";
import { type Pages, startPages, type Visitor } from "../pages.ts";

let pages: Pages;
const people = new Map<string, Visitor>();
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
/** Nothing listens there. */
const URL_OF_HOOK = "https://127.0.0.1:9/keys";
let teamId: string;
let keyId: string;

beforeAll(async () => {
  pages = await startPages();
  const members = ["admin", "member", "viewer"].map((role) => ({ role, subject: role }));
  const webhooks = [{ url: URL_OF_HOOK, events: ["key.revoked"], secret: SECRET }];
  teamId = (await pages.send("POST", "/teams", { name: "payments", spec: { members, webhooks } })).body.id;
  const other = { members: [{ role: "admin", subject: "stranger" }] };
  await pages.send("POST", "/teams", { name: "research", spec: other });
  for (const subject of ["admin", "member", "viewer", "stranger"]) people.set(subject, await pages.as(subject));
  keyId = (await pages.send("POST", "/keys", { name: "agent", team: "payments", spec: { preset: "MCPReadOnly" } })).body
    .id;
  await pages.send("POST", `/keys/${keyId}/revoke`, {});
  await until("it was tried", async () => (await delivery()).tries > 0);
});
afterAll(() => pages.close());

async function delivery() {
  return pages.store.db
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("key_id", "=", keyId)
    .executeTakeFirstOrThrow();
}
const as = (name: string): Visitor => {
  const person = people.get(name);
  if (person === undefined) throw new Error(`no person is called ${name}`);
  return person;
};

test("The page of webhooks shows a team's own people what was delivered, why not, and when it is tried next; and no secret", async () => {
  for (const name of ["admin", "member", "viewer"]) {
    const { status, text } = await as(name).get("/webhooks");
    expect(status).toBe(200);
    expect(text.replaceAll("<wbr>", "")).toContain(URL_OF_HOOK);
    expect(text).toContain("key.revoked");
    expect(text).toContain(`<a href="/dashboard/keys/${keyId}">agent</a>`);
    expect(text).toContain("the connection failed: ECONNREFUSED");
    expect(text).toContain("next try");
    expect(text).not.toContain(SECRET.slice(6, 20));
    expect(text.includes("Redeliver"), name).toBe(name === "admin");
  }
  const { text } = await as("stranger").get("/webhooks");
  expect(text).toContain("No webhooks yet");
  expect(text).not.toContain("127.0.0.1");
  expect((await as("stranger").get("/webhooks?team=payments")).text).not.toContain("127.0.0.1");
});

test("A delivery is repeated by an admin alone, which the audit log has; to others it is refused, or not there", async () => {
  await sql`update webhook_deliveries set state = 'failed', due_at = null, tries = 10 where key_id = ${keyId}`.execute(
    pages.store.db,
  );
  const { id } = await delivery();
  const path = `/webhooks/deliveries/${id}/redeliver`;
  const csrf = async (name: string) => ({
    _csrf: /name="_csrf" value="([^"]+)"/.exec((await as(name).get("/webhooks")).text)?.[1] ?? "",
  });
  for (const [name, status] of [
    ["member", 403],
    ["viewer", 403],
    ["stranger", 404],
  ] as const) {
    expect((await as(name).post(path, await csrf(name))).status, name).toBe(status);
  }
  expect((await delivery()).state).toBe("failed");
  expect((await as("admin").post("/webhooks/deliveries/evt_none/redeliver", await csrf("admin"))).status).toBe(404);
  const redelivered = await as("admin").post(path, await csrf("admin"));
  expect([redelivered.status, redelivered.headers.get("location")]).toEqual([303, "/dashboard/webhooks"]);
  await until("it was tried again", async () => {
    const { state, tries } = await delivery();
    return state === "pending" && tries === 1;
  });
  const { rows } = await sql<{ actor: string; detail: object }>`
    select actor, detail from audit_events where kind = 'webhook.redelivered'`.execute(pages.store.db);
  expect(rows).toMatchObject([{ actor: expect.stringContaining("admin"), detail: { delivery: id, url: URL_OF_HOOK } }]);
});

test("The log goes on page by page, the same by the API, each delivery once", async () => {
  await sql`insert into webhook_deliveries (id, webhook_id, team_id, url, event, key_id, at, data, state, due_at)
    select 'evt_' || lpad(translate(n::text, '0123456789', 'abcdefghij'), 4, 'a'), 'hook_gone', ${teamId}, ${URL_OF_HOOK},
      'key.rotated', ${keyId}, now() - (n / 2) * interval '1 minute', '{"name": "older"}', 'delivered', null
    from generate_series(1, 60) n`.execute(pages.store.db);
  const seen: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await pages.send("GET", `/teams/${teamId}/webhook-deliveries?limit=25${cursor}`);
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    if (body.nextCursor === null) break;
    cursor = `&cursor=${body.nextCursor}`;
  }
  expect([seen.length, new Set(seen).size]).toEqual([61, 61]);
  const first = await as("viewer").get("/webhooks");
  const next = /href="(\/dashboard\/webhooks\?after=[^"]+)"/.exec(first.text)?.[1] ?? "";
  const second = await as("viewer").get(next.replace("/dashboard", ""));
  expect((first.text + second.text).match(/evt_[a-z2-7]{4,}/g)?.length).toBeGreaterThanOrEqual(61);
  expect(second.text).not.toContain("Next page");
  expect((await as("viewer").get("/webhooks?after=nonsense!")).status).toBe(400);
});
