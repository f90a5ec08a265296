import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../runtime/clock.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../store/database/store.ts";
import { describeOnPostgres, migratedDatabase } from "../../env/database/engines.ts";
import { startTcpProxy, type TcpProxy } from "../../env/tcp-proxy.ts";
import { until } from "../../env/until.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
import { signIn } from "../auth/session/sign-in.ts";
import { type Api, startApi, TOKEN } from "./api.ts";

const SPEC = { preset: "MCPReadOnly" } as const;

describeOnPostgres("a database that goes away after a commit", () => {
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let proxy: TcpProxy;
  let store: Store;
  let api: Api;
  let team: string;
  beforeAll(async () => {
    database = await migratedDatabase();
    const { hostname, port } = new URL(database.url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const url = new URL(database.url);
    url.port = String(proxy.port);
    store = await openPostgres(url.href, { maxConnections: 5 });
    api = await startApi(store);
    team = (await makeTeam(store)).name;
  });
  afterAll(async () => {
    await api.close();
    await store.close();
    await proxy.close();
    await database.drop();
  });

  /** Sends a change; the database is gone from the first question that follows its commit, or the one given. */
  async function whileItGoes(
    path: string,
    body: object,
    [method, headers, question]: [method?: string, headers?: Record<string, string>, question?: string] = [],
  ) {
    const last = question ?? "max(seq) from changes where tx";
    const asked = proxy.resetAt("sent", () => (bytes) => bytes.includes(last));
    const gone = asked.then(() => proxy.cut());
    const answer = await api.send(method ?? "POST", path, body, headers);
    await gone;
    proxy.thaw();
    await until("the database answers", async () => (await api.send("GET", "/keys?limit=1")).status === 200);
    return answer;
  }

  test.each(["/keys", "/keys/{id}/versions"])("loses no secret: POST %s answers it all the same", async (path) => {
    const made = await api.send("POST", "/keys", { name: unique("before"), team, spec: SPEC });
    const body = path === "/keys" ? { name: unique("away"), team, spec: SPEC } : {};
    const answer = await whileItGoes(path.replace("{id}", made.body.id), body);
    expect([answer.status, answer.body.change]).toEqual([201, { sequence: null, confirmed: false }]);
    expect(answer.body).toMatchObject({ state: "active", prefix: answer.body.secret.slice(0, 12) });
    await until("the new secret works", async () => (await api.tryKey(answer.body.secret)) === 200);
  });

  test("lets no person in by a session, and does not sign out: 503 until it answers", async () => {
    const { cookie } = await signIn(store);
    const statuses = () =>
      Promise.all(
        ["/api/v1/keys", "/dashboard/keys"].map(async (path) => {
          const answer = await fetch(`${api.url}${path}`, { headers: { cookie }, redirect: "manual" });
          await answer.text();
          return answer.status;
        }),
      );
    expect(await statuses()).toEqual([200, 200]);
    proxy.cut();
    expect(await statuses()).toEqual([503, 503]);
    proxy.thaw();
    await until("the session is let in again", async () => (await statuses()).every((status) => status === 200));
  });

  test("c36: lets no caller in by the bootstrap token, whose use it cannot record, and serves on: 503 until it answers", async () => {
    const restricted = await startApi(store, {}, systemClock, managementToken("bootstrap-token", TOKEN, "bootstrap"));
    const look = async () => (await restricted.send("GET", "/keys")).status;
    try {
      expect(await look()).toBe(200);
      proxy.cut();
      expect(await look()).toBe(503);
      proxy.thaw();
      await until("the token is let in again", async () => (await look()) === 200);
    } finally {
      await restricted.close();
    }
  });

  test("keeps a leak that an unknown caller reports until it answers, and has members try again", async () => {
    const revoking = unique("revoking");
    await api.send("POST", "/teams", { name: revoking, spec: { leaks: { action: "Revoke" } } });
    const made = await api.send("POST", "/keys", { name: unique("leaked"), team: revoking, spec: SPEC });
    const body = JSON.stringify({ leaks: [{ key: made.body.secret }] });
    proxy.cut();
    const answer = await fetch(`${api.url}/api/v1/leaks`, { method: "POST", body });
    expect([answer.status, await answer.text()]).toEqual([202, '{"status":"received"}']);
    expect((await api.send("POST", "/leaks", JSON.parse(body))).status).toBe(503);
    await until("the leak waits", () => api.lines.some((line) => line.includes("was not acted on yet")));
    proxy.thaw();
    await until("the key is refused", async () => (await api.tryKey(made.body.secret)) === 401);
    const { revocation } = (await api.send("GET", `/keys/${made.body.id}`)).body;
    expect(revocation.reason).toBe("Leaked");
  });

  const makeKey = async () => (await api.send("POST", "/keys", { name: unique("key"), team, spec: SPEC })).body;

  test.each([
    ["POST", "/keys/{id}/revoke"],
    ["DELETE", "/keys/{id}"],
  ])("answers that the key is revoked, and repeated from what is stored: %s %s", async (method, path) => {
    const { id } = await makeKey();
    const at = path.replace("{id}", id);
    const answer = await whileItGoes(at, {}, [method]);
    expect([answer.status, answer.body]).toEqual([200, { sequence: null, confirmed: false }]);
    const again = await api.send(method, at, {});
    const { revocation } = (await api.send("GET", `/keys/${id}`)).body;
    expect([again.status, again.body.sequence]).toEqual([200, revocation.sequence]);
  });

  test("says of a changed key that it may be changed", async () => {
    const { id } = await makeKey();
    const etag = (await api.send("GET", `/keys/${id}`)).headers.get("etag") ?? "";
    const changed = { spec: { ...SPEC, displayName: "Another" } };
    const answer = await whileItGoes(`/keys/${id}`, changed, ["PUT", { "if-match": etag }]);
    expect([answer.status, answer.body.detail]).toEqual([503, expect.stringContaining("may have been made")]);
    expect((await api.send("GET", `/keys/${id}`)).body.displayName).toBe("Another");
  });

  test("says of a revocation whose commit got no answer that it may be made", async () => {
    const { id } = await makeKey();
    const answer = await whileItGoes(`/keys/${id}/revoke`, {}, ["POST", {}, "commit"]);
    expect([answer.status, answer.body.detail]).toEqual([503, expect.stringContaining("may have been made")]);
    expect((await api.send("POST", `/keys/${id}/revoke`, {})).status).toBe(200);
  });
});
