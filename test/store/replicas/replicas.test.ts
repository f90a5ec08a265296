import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { LEASE_MARGIN_MS, LEASE_MS } from "../../../domain/protocol.ts";
import { watchReplicas } from "../../../store/replicas/replica-watch.ts";
import {
  deregisterReplica,
  heartbeat,
  readReplicas,
  registerReplica,
  removeReplicas,
  replicaRegister,
} from "../../../store/replicas/replicas.ts";
import { pruneChanges } from "../../../store/retention.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, readSnapshot } from "../fixtures.ts";

const LEASE_AND_MARGIN_MS = LEASE_MS + LEASE_MARGIN_MS;

describeNightlyOnEachEngine("A change is acknowledged", (store) => {
  afterEach(async () => {
    await store().db.deleteFrom("replicas").execute();
  });
  const head = async () => {
    const { head: seq, headId: id } = await readSnapshot(store());
    return { seq, id };
  };
  /** Asks on a clock that passes only on request. */
  const watch = () => {
    const clock = { now: 0 };
    const database = { incarnation: "first", answersAfterMs: 0 };
    const { read, remove } = replicaRegister(store());
    const register = {
      remove,
      async read(seq: number) {
        const answer = await read(seq);
        clock.now += database.answersAfterMs;
        return { ...answer, incarnation: database.incarnation };
      },
    };
    return { clock, database, ask: watchReplicas(register, () => clock.now) };
  };
  const acknowledged = async () => (await watch().ask(0)).acknowledged;

  test("at once where there is no replica", async () => {
    await makeTeam(store());
    expect(await acknowledged()).toBe((await head()).seq);
  });

  test("when the last of the replicas has acknowledged it", async () => {
    const before = await head();
    await registerReplica(store(), "a");
    await registerReplica(store(), "b");
    for (const id of ["a", "b"]) await heartbeat(store(), id, before);
    await makeTeam(store());
    const now = await head();
    expect(await acknowledged()).toBe(before.seq);
    await heartbeat(store(), "a", now);
    expect(await acknowledged()).toBe(before.seq);
    await heartbeat(store(), "b", now);
    expect(await acknowledged()).toBe(now.seq);
  });

  test("not by a replica that has registered and read nothing yet", async () => {
    await makeTeam(store());
    await registerReplica(store(), "a");
    await heartbeat(store(), "a", await head());
    expect(await acknowledged()).toBe((await head()).seq);
    await registerReplica(store(), "new");
    expect(await acknowledged()).toBe(0);
  });

  test("when a silent replica is taken out for dead, a lease and a second after its sign of life was seen, no earlier", async () => {
    const { clock, ask } = watch();
    await registerReplica(store(), "dead");
    await registerReplica(store(), "alive");
    await makeTeam(store());
    await heartbeat(store(), "alive", await head());
    expect((await ask(0)).acknowledged).toBe(0);
    clock.now += LEASE_MS + 999;
    await heartbeat(store(), "alive", await head());
    expect((await ask(0)).acknowledged).toBe(0);
    clock.now += 1;
    expect((await ask(0)).acknowledged).toBe((await head()).seq);
    expect((await heartbeat(store(), "dead", await head())).registered).toBe(false);
    expect((await heartbeat(store(), "alive", await head())).registered).toBe(true);
  });

  test("when a silent replica with a longer lease is taken out for dead, that lease and a second later, no earlier", async () => {
    const { clock, ask } = watch();
    await registerReplica(store(), "dead", { leaseMs: 60_000 });
    await makeTeam(store());
    expect(await ask(0)).toMatchObject({ acknowledged: 0, longestLeaseMs: 60_000 });
    clock.now += 60_999;
    expect((await ask(0)).acknowledged).toBe(0);
    clock.now += 1;
    expect((await ask(0)).acknowledged).toBe((await head()).seq);
    expect((await ask(0)).longestLeaseMs).toBe(LEASE_MS);
  });

  test("by no replica less where an answer comes so late that what it says is old", async () => {
    const { clock, database, ask } = watch();
    await registerReplica(store(), "alive");
    await makeTeam(store());
    await ask(0);
    clock.now += LEASE_MS;
    database.answersAfterMs = LEASE_AND_MARGIN_MS;
    expect((await ask(0)).acknowledged).toBe(0);
    expect((await heartbeat(store(), "alive", await head())).registered).toBe(true);
  });

  test("c39: by no replica less when the database's clock is set: this process's own clock decides which replica is dead", async () => {
    const { clock, ask } = watch();
    await registerReplica(store(), "alive");
    await makeTeam(store());
    await ask(0);
    clock.now += LEASE_MS - 1;
    for (const hours of [-1, 2]) {
      await sql`update replicas set seen_at = seen_at + ${hours} * interval '1 hour'`.execute(store().db);
      expect((await ask(0)).acknowledged).toBe(0);
    }
    expect((await heartbeat(store(), "alive", await head())).registered).toBe(true);
  });

  test("c26: by no replica less where another database answers, which has lost its last sign of life", async () => {
    const { clock, database, ask } = watch();
    await registerReplica(store(), "cut off");
    await makeTeam(store());
    await ask(0);
    // What it reports now is lost, and it may serve for a lease from now on.
    clock.now += LEASE_MS;
    database.incarnation = "second";
    clock.now += LEASE_MS - 1;
    expect((await ask(0)).acknowledged).toBe(0);
    expect((await readReplicas(store(), 0)).replicas.map(({ id }) => id)).toEqual(["cut off"]);
    clock.now += LEASE_AND_MARGIN_MS;
    expect((await ask(0)).acknowledged).toBe((await head()).seq);
  });

  test("c26: by no replica where another database answers, which may have lost a registration, until leases from before are over", async () => {
    const { clock, database, ask } = watch();
    await ask(0);
    await registerReplica(store(), "lost");
    await deregisterReplica(store(), "lost");
    database.incarnation = "second";
    await makeTeam(store());
    expect((await ask(0)).acknowledged).toBe(0);
    clock.now += LEASE_AND_MARGIN_MS - 1;
    expect((await ask(0)).acknowledged).toBe(0);
    clock.now += 1;
    expect((await ask(0)).acknowledged).toBe((await head()).seq);
  });

  test("c26: by no replica where another database has lost a replica with a longer lease, until that one is over", async () => {
    const { clock, database, ask } = watch();
    await registerReplica(store(), "lost", { leaseMs: 60_000 });
    await ask(0);
    await deregisterReplica(store(), "lost");
    database.incarnation = "second";
    await makeTeam(store());
    expect(await ask(0)).toMatchObject({ acknowledged: 0, longestLeaseMs: 60_000 });
    clock.now += 60_999;
    expect(await ask(0)).toMatchObject({ acknowledged: 0, longestLeaseMs: 60_000 });
    clock.now += 1;
    expect(await ask(0)).toMatchObject({ acknowledged: (await head()).seq, longestLeaseMs: LEASE_MS });
  });

  test("not without a replica that seemed dead and gives a sign of life just then", async () => {
    await registerReplica(store(), "late");
    const { replicas } = await readReplicas(store(), 0);
    await heartbeat(store(), "late", await head());
    await removeReplicas(store(), replicas);
    expect((await heartbeat(store(), "late", await head())).registered).toBe(true);
  });

  test("when the last silent replica has deregistered", async () => {
    await registerReplica(store(), "leaving");
    await makeTeam(store());
    expect(await acknowledged()).toBe(0);
    await deregisterReplica(store(), "leaving");
    expect(await acknowledged()).toBe((await head()).seq);
  });

  test("a heartbeat returns the last sign of life of the replica before, the first one that of the last", async () => {
    const neighbourOf = async (id: string) => (await heartbeat(store(), id, await head())).neighbour;
    const signOf = async (name: string) => {
      const rows = await store()
        .db.selectFrom("replicas")
        .select(sql<string>`id || ' ' || seen_at`.as("sign"))
        .where("id", "=", name)
        .execute();
      return rows[0]?.sign;
    };
    await registerReplica(store(), "b");
    expect(await neighbourOf("b")).toBeNull();
    for (const id of ["a", "c"]) await registerReplica(store(), id);
    for (const [id, before] of [
      ["a", "c"],
      ["b", "a"],
      ["c", "b"],
    ] as const) {
      expect(await neighbourOf(id)).toEqual({ sign: await signOf(before), leaseMs: LEASE_MS });
      await heartbeat(store(), before, await head());
      expect(await neighbourOf(id)).toEqual({ sign: await signOf(before), leaseMs: LEASE_MS });
    }
  });

  test("a heartbeat returns how many replicas there are", async () => {
    const counted = async () => (await heartbeat(store(), "a", await head())).replicas;
    for (const id of ["a", "b", "c"]) await registerReplica(store(), id);
    expect(await counted()).toBe(3);
  });

  test("c26: a heartbeat returns the id of the replica's last change, and nothing for one that was never made", async () => {
    await makeTeam(store());
    await registerReplica(store(), "a");
    const last = await head();
    const { seq, id } = last;
    const beat = await heartbeat(store(), "a", last);
    expect(beat).toMatchObject({ registered: true, head: seq, idOfLastSeq: id });
    expect(Math.abs(beat.databaseNow - Date.now())).toBeLessThan(60_000);
    expect((await heartbeat(store(), "a", { seq: seq + 1, id })).idOfLastSeq).toBeNull();
    await pruneChanges(store(), 1);
    expect((await heartbeat(store(), "a", { seq: seq - 1, id })).idOfLastSeq).toBeNull();
    expect((await heartbeat(store(), "a", last)).idOfLastSeq).toBe(id);
    expect(await acknowledged()).toBe(seq);
  });

  test("c26: not by a replica that has applied another change of that number, before the database was rolled back", async () => {
    await makeTeam(store());
    await registerReplica(store(), "a");
    const { seq } = await head();
    for (const of of [seq, seq + 100]) {
      await heartbeat(store(), "a", { seq: of, id: "00000000-0000-4000-8000-000000000000" });
      expect(await acknowledged()).toBe(0);
    }
  });
});
