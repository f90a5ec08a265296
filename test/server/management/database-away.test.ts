import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../../store/migrate.ts";
import { openPostgres, type Store } from "../../../store/open.ts";
import { describeOnPostgres, freshDatabase } from "../../env/engines.ts";
import { startTcpProxy, type TcpProxy } from "../../env/tcp-proxy.ts";
import { until } from "../../env/until.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
import { type Api, startApi } from "./api.ts";

const SPEC = { preset: "MCPReadOnly" } as const;

describeOnPostgres("a database that goes away after the commit of a new secret", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let proxy: TcpProxy;
  let store: Store;
  let api: Api;
  let team: string;
  beforeAll(async () => {
    database = await freshDatabase();
    const { hostname, port } = new URL(database.url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const url = new URL(database.url);
    url.port = String(proxy.port);
    store = await openPostgres(url.href, { maxConnections: 5 });
    await migrate(store);
    api = await startApi(store);
    team = (await makeTeam(store)).name;
  });
  afterAll(async () => {
    await api.close();
    await store.close();
    await proxy.close();
    await database.drop();
  });

  /** Sends a request that mints a secret; the database is gone from the first question that follows its commit. */
  async function whileItGoes(path: string, body: object) {
    const seqIsAsked = proxy.resetAt("sent", () => (bytes) => bytes.includes("max(seq) from changes where tx"));
    const gone = seqIsAsked.then(() => proxy.cut());
    const answer = await api.send("POST", path, body);
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
});
