/** A database put back in time under a living controller on Kubernetes, and under the replica that serves. */
import { it } from "vitest";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import { restorableDatabase } from "../env/database/restorable-database.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { until } from "../env/until.ts";
import { startReplica } from "../server/key-index/replica-fixtures.ts";

describeOnKubernetes("a database that was put back in time", (kubernetes) => {
  it("c26: what was revoked, suspended, rotated and declared since is so again by the declarations", async (context) => {
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
        intervalsMs: { resync: 1_000 },
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
    await until("the leader of before is deposed", () => world.lines.some((line) => line.includes("StaleLeaderError")));
    // Which ends a process, and another takes its place.
    await world.stop(true);
    await world.start();
    await until("the revocation and the suspension hold again", () =>
      dead.slice(0, 2).every((plaintext) => world.decide(plaintext) === "unauthorized"),
    );
    await world.collectGarbage();
    await until("so does the deletion", () => world.decide(String(deleted)) === "unauthorized");
    for (const name of ["rotated", "young"]) {
      await until(`what ${name} has in its Secret works`, async () => {
        const plaintext = await world.keyIn(name);
        return plaintext !== undefined && world.decide(plaintext) === "allowed";
      });
    }
  });
});
