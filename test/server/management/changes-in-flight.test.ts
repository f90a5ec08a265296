import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { leakRoutes } from "../../../server/leaks/routes.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import type { Tx } from "../../../store/database/change.ts";
import { holdTeam } from "../../../store/objects/held-teams.ts";
import { findSession } from "../../../store/sessions/sessions.ts";
import { describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { type Browser, ownPage, signIn } from "../auth/session/sign-in.ts";
import { type Harness, startHarness } from "../harness.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const ISSUER = "https://id.example";
const GATEWAY = (name: string) => ({
  upstreams: [{ name, dialect: "openai", baseURL: `https://${name}.example`, noCredential: true }],
  routes: [],
});

describeOnPostgres("A change that waits for a lock while its author loses the right to it", (store) => {
  let harness: Harness;
  let ann: Browser;
  /** A person who opened another's one-time link first. */
  let thief: Browser;
  let team: { readonly id: string; readonly name: string };

  async function send(method: string, path: string, headers: Readonly<Record<string, string>>, body: object) {
    const answer = await fetch(`${harness.url}/api/v1${path}`, {
      ...{ method, body: JSON.stringify(body) },
      headers: { ...headers, "content-type": "application/json" },
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  }
  const byOwner = (path: string, body: object) => send("POST", path, { authorization: `Bearer ${TOKEN}` }, body);
  const put = (path: string, spec: object, by = ann) =>
    send("PUT", path, { ...ownPage(harness, by), "if-match": "*" }, { spec });

  beforeEach(async () => {
    harness = await startHarness({
      mounts: [managementRoutes, leakRoutes].map((routes) => ({ at: "/api/v1", routes })),
      store: store(),
      managementToken: managementToken("bootstrap-token", TOKEN),
      config: { oidc: { issuers: [ISSUER], audience: "keyplane", adminGroups: [] } },
    });
    harness.clock.set(Date.now());
    ann = await signIn(store(), { person: { issuer: ISSUER, subject: "ann", groups: [] } });
    thief = await signIn(store());
    const name = unique("team");
    const spec = { members: [{ role: "admin", subject: "ann" }], leaks: { action: "Revoke" } };
    team = { id: (await byOwner("/teams", { name, spec })).body.id, name };
  });
  afterEach(() => harness.close());

  async function waiting(): Promise<number> {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
    return rows.length;
  }

  /** Begins a change while `held` is locked, does something meanwhile, and returns the answer to the change. */
  async function overtake<T>(
    held: { execute(tx: Tx): Promise<unknown> },
    begin: () => Promise<T>,
    meanwhile: () => Promise<unknown>,
  ): Promise<T> {
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = store()
      .db.transaction()
      .execute(async (tx) => {
        await held.execute(tx);
        locked.resolve();
        await release.promise;
      });
    await locked.promise;
    const begun = begin();
    await until("the change waits", async () => (await waiting()) === 1);
    await meanwhile();
    release.resolve();
    await holding;
    return begun;
  }
  const revoke = async () => {
    const revoked = await byOwner(`/teams/${team.id}/revoked-subjects`, { subject: "ann" });
    expect(revoked).toMatchObject({ status: 200, body: { confirmed: true } });
  };

  /** Has a request of the thief wait for the team or another lock, and ends the sessions by links meanwhile. */
  const overtakeThief = (
    begin: () => ReturnType<typeof send>,
    held = sql`select from teams where id = ${team.id} for update`,
  ) =>
    overtake(held, begin, async () => {
      const ended = await byOwner("/ended-sessions", { subject: "console-link" });
      expect(ended.body.ended).toBeGreaterThan(0);
    });

  test("b431, b428: changes no team once the session by a link that asked for it is ended", async () => {
    const answer = await overtakeThief(() => put(`/teams/${team.id}`, { displayName: "Stolen" }, thief));
    expect(answer.status).toBe(401);
    const { rows } = await sql`select display_name from teams where id = ${team.id}`.execute(store().db);
    expect(rows).toEqual([{ display_name: team.name }]);
  });

  test("b431, b428: makes no key once the session by a link that asked for it is ended", async () => {
    const key = { name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly" } };
    const answer = await overtakeThief(() => send("POST", "/keys", ownPage(harness, thief), key));
    expect(answer.status).toBe(401);
    const { rows } = await sql`select from keys where name = ${key.name}`.execute(store().db);
    expect(rows).toEqual([]);
  });

  test("b431: ends no other session once the session by a link that asked for it is ended", async () => {
    const answer = await overtakeThief(
      () => send("POST", "/ended-sessions", ownPage(harness, thief), { subject: "ann" }),
      sql`select from sessions where subject = 'ann' for update`,
    );
    expect(answer.status).toBe(401);
    expect(await findSession(store().db, ann.digest)).toBeDefined();
  });

  test("a session by a link ends all of them, itself too", async () => {
    const { status } = await send("POST", "/ended-sessions", ownPage(harness, thief), { subject: "console-link" });
    expect([status, await findSession(store().db, thief.digest)]).toEqual([200, undefined]);
  });

  test("b428: widens no key once the revocation is confirmed", async () => {
    const made = await byOwner("/keys", { name: unique("key"), team: team.name, spec: { scopes: ["memory:read"] } });
    const { id } = made.body;
    const answer = await overtake(
      sql`select from keys where id = ${id} for update`,
      () => put(`/keys/${id}`, { scopes: ["memory:read", "memory:write"] }),
      revoke,
    );
    expect([403, 404]).toContain(answer.status);
    const { rows } = await sql<{ scopes: string[] }>`select scopes from keys where id = ${id}`.execute(store().db);
    expect(rows).toEqual([{ scopes: ["memory:read"] }]);
  });

  test("b428: revokes no key for a reported leak", async () => {
    const made = await byOwner("/keys", { name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly" } });
    const { id, secret } = made.body;
    await overtake(
      sql`select from keys where id = ${id} for update`,
      () => send("POST", "/leaks", ownPage(harness, ann), { leaks: [{ key: secret }] }),
      revoke,
    );
    const { rows } = await sql`select state from keys where id = ${id}`.execute(store().db);
    expect(rows).toEqual([{ state: "active" }]);
  });

  test("b428: leads no gateway elsewhere", async () => {
    const { id } = (await byOwner("/gateways", { name: unique("gw"), team: team.name, spec: GATEWAY("good") })).body;
    const answer = await overtake(
      sql`select from gateways where id = ${id} for update`,
      () => put(`/gateways/${id}`, GATEWAY("evil")),
      revoke,
    );
    expect([403, 404]).toContain(answer.status);
  });

  test.each([
    ["key", "/keys", { preset: "MCPReadOnly" }],
    ["gateway", "/gateways", GATEWAY("evil")],
  ])("b441, b428: makes no %s for a member whose revocation waits already", async (_, path, spec) => {
    const body = { name: unique("late"), team: team.name, spec };
    let asked: ReturnType<typeof send> | undefined;
    await overtake({ execute: (tx) => holdTeam(tx, team.id) }, revoke, async () => {
      asked = send("POST", path, ownPage(harness, ann), body);
      await Promise.race([asked, until("it waits behind the revocation", async () => (await waiting()) === 2)]);
    });
    expect((await asked)?.status).toBe(403);
  });

  test("b428: brings no admin back whom another change has removed", async () => {
    // What another admin's change of the team does, which is under way as ann's comes.
    const removal = sql`with team as (select id from teams where id = ${team.id} for update)
      delete from team_members where team_id in (select id from team) and value = 'ann'`;
    const spec = { members: [{ role: "admin", subject: "ann" }] };
    const answer = await overtake(
      removal,
      () => put(`/teams/${team.id}`, spec),
      async () => {},
    );
    expect([403, 404]).toContain(answer.status);
    const { rows } = await sql`select from team_members where team_id = ${team.id}`.execute(store().db);
    expect(rows).toEqual([]);
  });
});
