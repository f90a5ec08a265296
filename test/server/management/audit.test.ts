/** What an auditor asks of the changes that are made through the management API. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
import { type Api, startApi } from "./api.ts";

const CREDENTIAL = "sk-provider-5d1f0c2b7a934e86";
const NEXT_CREDENTIAL = "sk-provider-77aa0e19c3d24f5b";

describeNightlyOnEachEngine("b89: the audit log, asked", (store) => {
  let api: Api;
  let team: { id: string; name: string };
  beforeAll(async () => {
    api = await startApi(store(), { KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.0/8" });
  });
  beforeEach(async () => {
    const name = unique("audited");
    const spec = { members: [{ role: "viewer", subject: "eve@example.com" }] };
    team = { name, id: (await api.send("POST", "/teams", { name, spec })).body.id };
  });
  afterAll(() => api.close());

  const put = async (path: string, spec: unknown, reason: string) =>
    expect((await api.send("PUT", path, { spec, reason }, { "if-match": "*" })).status).toBe(200);

  /** The lines of one kind, newest last. */
  async function ask(kind: string) {
    const { rows } = await sql<{ actor: string; detail: Record<string, unknown> }>`
      select actor, detail from audit_events where team_id = ${team.id} and kind = ${kind} order by id`.execute(
      store().db,
    );
    return rows;
  }

  test("b89: who widened a key, says before and after, and who", async () => {
    const { body: key } = await api.send("POST", "/keys", {
      name: unique("key"),
      team: team.name,
      spec: { scopes: ["memory:read"], expiresAfter: "1h" },
    });
    const spec = { scopes: ["memory:read", "memory:write"], rateLimit: { requestsPerMinute: 600 } };
    await put(`/keys/${key.id}`, spec, "it must write");
    const [line] = await ask("key.policy_updated");
    expect(line).toMatchObject({
      actor: "bootstrap-token",
      detail: {
        why: "it must write",
        address: "127.0.0.1",
        changed: {
          scopes: { before: ["memory:read"], after: ["memory:read", "memory:write"] },
          rateLimit: { before: null, after: { requestsPerMinute: 600, burst: expect.any(Number) } },
          versions: {
            before: [{ version: 1, expiresAt: expect.any(String) }],
            after: [{ version: 1, expiresAt: null }],
          },
        },
      },
    });
    expect(Object.keys(Object(line?.detail.changed)).sort()).toEqual(["rateLimit", "scopes", "versions"]);
    expect((await ask("key.reserved")).at(-1)?.detail).toMatchObject({
      changed: { scopes: { before: null, after: ["memory:read"] } },
    });
  });

  test("b89: who made themselves admin, says before and after, and who", async () => {
    const members = [{ role: "admin", subject: "eve@example.com" }];
    await put(`/teams/${team.id}`, { members }, "promoted");
    const eve = { kind: "subject", value: "eve@example.com" };
    expect((await ask("team.changed")).at(-1)).toMatchObject({
      actor: "bootstrap-token",
      detail: {
        why: "promoted",
        changed: { members: { before: [{ role: "viewer", ...eve }], after: [{ role: "admin", ...eve }] } },
      },
    });
  });

  test("b89: who pointed a gateway elsewhere, says before and after, and never a credential", async () => {
    const upstream = (url: string, credential: string) => ({
      upstreams: [{ name: "main", dialect: "openai", baseURL: url, credential }],
    });
    const { body: gateway } = await api.send("POST", "/gateways", {
      name: "main",
      team: team.name,
      spec: upstream("https://api.example.com", CREDENTIAL),
    });
    await put(`/gateways/${gateway.id}`, upstream("https://evil.example.com", CREDENTIAL), "moved");
    await put(`/gateways/${gateway.id}`, upstream("https://evil.example.com", NEXT_CREDENTIAL), "rotated");
    const [moved, rotated] = await ask("gateway.changed");
    expect(moved?.detail).toMatchObject({
      why: "moved",
      changed: {
        upstreams: {
          before: [{ name: "main", dialect: "openai", baseUrl: "https://api.example.com" }],
          after: [{ name: "main", dialect: "openai", baseUrl: "https://evil.example.com" }],
        },
      },
    });
    expect(moved?.detail.changedCredentials).toBeUndefined();
    expect(rotated?.detail).toMatchObject({ why: "rotated", changed: {}, changedCredentials: ["main"] });
    expect((await api.send("DELETE", `/gateways/${gateway.id}`, { reason: "over" })).status).toBe(200);
    expect((await ask("gateway.deleted"))[0]?.detail).toMatchObject({
      why: "over",
      changed: { publicId: { before: gateway.publicID, after: null } },
    });

    const { rows } = await sql`select t::text from audit_events t`.execute(store().db);
    const text = JSON.stringify(rows);
    expect([CREDENTIAL, NEXT_CREDENTIAL].filter((secret) => text.includes(secret))).toEqual([]);
  });

  test("b89: a change that changes nothing is no line, and a key that was pasted is in none", async () => {
    const spec = { displayName: "Payments" };
    await put(`/teams/${team.id}`, spec, "a name");
    const lines = (await ask("team.changed")).length;
    await put(`/teams/${team.id}`, spec, "again");
    expect((await ask("team.changed")).length).toBe(lines);
    const pasted = `inf_${"k".repeat(40)}`;
    await makeTeam(store(), { displayName: `of ${pasted}` });
    const { rows } = await sql`select t::text from audit_events t`.execute(store().db);
    expect(JSON.stringify(rows)).not.toContain(pasted.slice(12));
  });
});
