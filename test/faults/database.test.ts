/** A database put back in time under a living controller on Kubernetes, and under the replica that serves. */
import pg from "pg";
import { it, type TestContext } from "vitest";
import { migrate } from "../../store/migrate.ts";
import { openPostgres } from "../../store/open.ts";
import { makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import { freshDatabase, postgresMissing } from "../env/engines.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { until } from "../env/until.ts";
import { startReplica } from "../server/index/replica-fixtures.ts";

/** A database that can be copied, and put back as it was, while others use it. */
async function restorableDatabase(context: TestContext) {
  const { url, drop } = await freshDatabase();
  const name = new URL(url).pathname.slice(1);
  const backup = `${name}_backup`;
  async function alone(...statements: string[]): Promise<void> {
    const admin = new URL(url);
    admin.pathname = "/postgres";
    const client = new pg.Client({ connectionString: admin.href });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
  const close = [
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  ];
  context.onTestFinished(async () => {
    await alone(`drop database if exists ${backup}`);
    await drop();
  });
  return {
    url,
    save: () =>
      alone(...close, `create database ${backup} template ${name}`, `alter database ${name} allow_connections true`),
    restore: () => alone(...close, `drop database ${name} with (force)`, `create database ${name} template ${backup}`),
  };
}

describeOnKubernetes("a database that was put back in time", (kubernetes) => {
  it.skipIf(postgresMissing !== undefined)(
    "c26: what was revoked, suspended, rotated and declared since is so again by the declarations",
    async (context) => {
      const database = await restorableDatabase(context);
      const store = await openPostgres(database.url);
      await migrate(store);
      const replica = startReplica(store);
      context.onTestFinished(async () => {
        await replica.replica.close();
        await store.close();
      });
      await until("the replica is current", () => replica.view.isCurrent());
      const since = ["revoked", "suspended", "deleted", "rotated"];
      const world = await startWorld(
        context,
        {
          store,
          view: replica.view,
          side: (shift) => makeKubernetesSide(kubernetes(), shift),
          repairIntervalMs: 1_000,
        },
        ...since.map((name) => key(name)),
      );
      const [revoked, suspended, deleted] = await Promise.all(since.map((name) => world.plaintextOf(name)));
      await database.save();
      await until("the controller and the replica are back", async () => {
        await world.write(key("revoked", { displayName: String(performance.now()) }));
        return world.condition("Ready", "revoked") === "True/Ready" && replica.view.isCurrent();
      });

      await world.declare(key("revoked", { state: "Revoked" }), key("suspended", { state: "Suspended" }));
      await world.declare(key("rotated", { rotation: { trigger: "next" } }), key("young"));
      await world.remove(key("deleted"));
      const dead = [revoked, suspended, deleted].map(String);
      await until("all three are refused", () => dead.every((plaintext) => world.decide(plaintext) === "unauthorized"));

      await database.restore();
      await until("they are alive again", () => dead.some((plaintext) => world.decide(plaintext) === "allowed"));
      await until("the revocation and the suspension hold again", () =>
        dead.slice(0, 2).every((plaintext) => world.decide(plaintext) === "unauthorized"),
      );
      await world.sweep();
      await until("so does the deletion", () => world.decide(String(deleted)) === "unauthorized");
      for (const name of ["rotated", "young"]) {
        await until(`what ${name} has in its Secret works`, async () => {
          const plaintext = await world.keyIn(name);
          return plaintext !== undefined && world.decide(plaintext) === "allowed";
        });
      }
    },
    180_000,
  );
});
