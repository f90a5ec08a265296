/** A database that fails over, under servers and a controller: by its settings, and to a standby that is promoted. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { expect, it, type TestContext } from "vitest";
import { DatabaseUnavailableError } from "../../store/database/errors.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { key, NO_VIEW, startWorld } from "../controller/fixtures/world.ts";
import { migratedDatabase } from "../env/database/engines.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { startStandby } from "../env/database/standby.ts";
import { freePort } from "../env/free-port.ts";
import { type Serving, startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam } from "../store/fixtures.ts";
import { databaseBehindProxy, follow, metricOf, serverEnvironment } from "./feed-fixtures.ts";

/** How long a database takes no writes in a failover. Milliseconds. */
const READ_ONLY_MS = 8_000;
/** By when all is as before, once it takes writes again. */
const READY_WITHIN = { timeoutMs: 30_000 };

type Started = { readonly serving: Promise<Serving>; readonly isReady: () => Promise<boolean>; readonly url: string };

/** Servers of one installation on a database. */
async function installation(context: TestContext, url: string) {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-failover-"));
  const { token, env } = await serverEnvironment(folder, url);
  const started: Serving[] = [];
  context.onTestFinished(async () => {
    for (const { child } of started) child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  });
  return {
    /** Begins to start one, which may not become ready yet. */
    async start(): Promise<Started> {
      const [port, adminPort] = [await freePort(), await freePort()];
      const args = ["server", "--port", String(port), "--admin-port", String(adminPort)];
      const serving = startServing(args, env);
      serving.then(
        (one) => started.push(one),
        () => {},
      );
      const isReady = () =>
        fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      return { serving, isReady, url: `http://127.0.0.1:${port}` };
    },
    async manage(server: Started, method: string, path: string, body?: object) {
      const answer = await fetch(`${server.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text) as { id: string; secret: string; revocation: { confirmed: boolean } | null };
    },
  };
}

const whoami = async (server: Started, secret: string) =>
  (await fetch(`${server.url}/api/v1/whoami`, { headers: { authorization: `Bearer ${secret}` } })).status;

it("c92: after a failover that leaves sessions read-only, every server, one that started meanwhile, and the controller go on by themselves", async (context) => {
  const { url, drop } = await migratedDatabase();
  context.onTestFinished(drop);
  const store = await openPostgres(url);
  context.onTestFinished(() => store.close());
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  context.onTestFinished(() => admin.end());
  const database = new URL(url).pathname.slice(1);
  const { start, manage } = await installation(context, url);
  const first = await start();
  const world = await startWorld(context, { store, view: NO_VIEW }, key("before"));
  await first.serving;
  const team = await manage(first, "POST", "/teams", { name: "probes", spec: {} });
  const held = await manage(first, "POST", "/keys", { name: "held", team: team.id, spec: { preset: "MCPReadOnly" } });

  await admin.query(`alter database ${database} set default_transaction_read_only = on`);
  await admin.query(`set default_transaction_read_only = off`);
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await world.write(key("meanwhile"));
  const second = await start();
  await delay(READ_ONLY_MS);
  expect(await Promise.all([first.isReady(), second.isReady()])).toEqual([false, false]);
  expect(await whoami(first, held.secret)).toBe(503);

  await admin.query(`alter database ${database} reset default_transaction_read_only`);
  for (const server of [first, second]) {
    await until("a server is ready", server.isReady, READY_WITHIN);
    // A connection that is found fenced takes those beside it along, and what they were asked.
    const make = () => {
      const name = `after-${server.url.at(-1)}-${randomBytes(4).toString("hex")}`;
      return manage(server, "POST", "/keys", { name, team: team.id, spec: { preset: "MCPReadOnly" } });
    };
    await until("a key is made", make, READY_WITHIN);
    expect(await whoami(server, held.secret)).toBe(200);
  }
  await until("the controller goes on", () => world.condition("Ready", "meanwhile") === "True/Ready", READY_WITHIN);
});

it("c92: a name that leads to a standby, then to the primary that it becomes, is followed, and what the old one had not passed on is noticed", async (context) => {
  const primary = await startOwnPostgres();
  context.onTestFinished(() => primary.stop());
  const database = await databaseBehindProxy(context, undefined, { url: primary.url, drop: async () => {} });
  const { direct: old, store, proxy } = database;
  const standby = await startStandby(primary);
  const admin = new pg.Client({ connectionString: standby.url });
  await admin.connect();
  context.onTestFinished(async () => {
    await admin.end();
    await standby.stop();
  });
  const configure = async (server: Pick<pg.Client, "query">, statement: string) => {
    await server.query(`alter system set ${statement}`);
    await server.query("select pg_reload_conf()");
  };
  const replicas = [follow(context, database), follow(context, database)];
  const areAll = (digest: string, isAccepted: boolean) => () =>
    replicas.every((replica) => replica.accepts(digest) === isAccepted);
  const home = await until("the primary is back", () => makeTeam(old));
  const kept = await storeKey(store, home);
  await until("all accept the key", areAll(kept.digest, true));
  await until("the standby has it", async () => (await admin.query("select from keys")).rows.length === 1);
  await configure(admin, "primary_conninfo = ''");
  await until(
    "it receives nothing",
    async () => (await admin.query("select from pg_stat_wal_receiver")).rowCount === 0,
  );
  const lost = await storeKey(store, home);
  await until("all accept the next key", areAll(lost.digest, true));

  // The old primary is fenced, and goes on with the connections that it has.
  proxy.leadTo({ host: "127.0.0.1", port: Number(new URL(standby.url).port) });
  const fence = new pg.Client({ connectionString: primary.url });
  await fence.connect();
  await configure(fence, "default_transaction_read_only = on");
  await fence.end();
  await until("none decides", areAll(kept.digest, false));
  await expect(makeTeam(store)).rejects.toThrow(DatabaseUnavailableError);
  await admin.query("select pg_promote()");
  await until("all decide", areAll(kept.digest, true), READY_WITHIN);
  expect(areAll(lost.digest, false)()).toBe(true);
  // Once more for each snapshot that the promotion cuts off.
  for (const replica of replicas)
    expect(await metricOf(replica, "keyplane_index_database_rollbacks_total")).toBeGreaterThanOrEqual(1);
  const next = await storeKey(store, home);
  await until("all accept a new key", areAll(next.digest, true));
  await kept.revoke();
  await until("all refuse one that is revoked", areAll(kept.digest, false));
});
