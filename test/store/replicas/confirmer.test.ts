import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { LEASE_MS } from "../../../domain/protocol.ts";
import type { Store } from "../../../store/database/store.ts";
import { createConfirmer } from "../../../store/replicas/confirmer.ts";
import { heartbeat, registerReplica, replicaRegister } from "../../../store/replicas/replicas.ts";
import { saveTeam } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { makeTeam, readSnapshot, run, teamDraft } from "../fixtures.ts";

/** A confirmer on a clock that passes only on request. */
function confirmerOf(store: Store) {
  let now = 0;
  const confirm = createConfirmer(replicaRegister(store), () => now);
  /** After a sign of life of the replica that acknowledges nothing, where there is one. */
  const ask = async () => {
    await sql`update replicas set seen_at = seen_at + interval '1 second' where id = 'stuck'`.execute(store.db);
    return confirm();
  };
  return {
    confirmed: async () => (await ask()).seq,
    ask,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describeNightlyOnEachEngine("A change is confirmed", (store) => {
  afterEach(async () => {
    await store().db.deleteFrom("replicas").execute();
  });
  const place = async () => {
    const { head: seq, headId: id } = await readSnapshot(store());
    return { seq, id };
  };
  /** A replica that lives and acknowledges nothing. */
  const stuck = (id = "stuck") => registerReplica(store(), id);

  test("at once where there is no replica, and by the last replica's acknowledgement where there are some", async () => {
    const { confirmed } = confirmerOf(store());
    await makeTeam(store());
    expect(await confirmed()).toBe((await place()).seq);
    await stuck();
    const before = await place();
    await makeTeam(store());
    expect(await confirmed()).toBe(before.seq);
    await heartbeat(store(), "stuck", await place());
    expect(await confirmed()).toBe((await place()).seq);
  });

  test("still when a replica has registered, which reads nothing older", async () => {
    const { confirmed } = confirmerOf(store());
    await makeTeam(store());
    const before = await confirmed();
    await stuck("new");
    expect(await confirmed()).toBe(before);
  });

  test("despite a replica that does not acknowledge, a lease and a second after it was first seen, and no earlier", async () => {
    const { confirmed, pass } = confirmerOf(store());
    await stuck();
    await makeTeam(store());
    const first = await place();
    expect(await confirmed()).toBe(0);
    pass(1_000);
    await makeTeam(store());
    expect(await confirmed()).toBe(0);
    pass(LEASE_MS - 1);
    expect(await confirmed()).toBe(0);
    pass(1);
    expect(await confirmed()).toBe(first.seq);
    pass(1_000);
    expect(await confirmed()).toBe((await place()).seq);
  });

  test("despite one with a longer lease, that lease and a second after it was first seen", async () => {
    const { confirmed, pass } = confirmerOf(store());
    await registerReplica(store(), "stuck", { leaseMs: 60_000 });
    await makeTeam(store());
    const first = await place();
    expect(await confirmed()).toBe(0);
    await registerReplica(store(), "another");
    for (const ms of [30_000, 30_999]) {
      pass(ms);
      await sql`update replicas set seen_at = seen_at + interval '1 second'`.execute(store().db);
      expect(await confirmed()).toBe(0);
    }
    pass(1);
    expect(await confirmed()).toBe(first.seq);
  });

  test("by no time that passed before this process saw it: a process that has just started knows nothing", async () => {
    const earlier = confirmerOf(store());
    await stuck();
    await makeTeam(store());
    await earlier.ask();
    earlier.pass(LEASE_MS + 1_000);
    expect(await earlier.confirmed()).toBe((await place()).seq);
    expect(await confirmerOf(store()).confirmed()).toBe(0);
  });

  test.for([1, 10])(
    "c26: anew after the database was rolled back, also where it has made %i new changes since",
    async (made) => {
      const { ask, confirmed, pass } = confirmerOf(store());
      for (let i = 0; i < 12; i++) await makeTeam(store());
      await ask();
      const before = (await place()).seq;
      expect(await confirmed()).toBe(before);
      await sql`delete from changes where seq > ${before - 10}`.execute(store().db);
      await sql`update feed set head = ${before - 10}`.execute(store().db);
      await stuck();
      for (let i = 0; i < made; i++)
        await run(store(), (tx) => saveTeam(tx, teamDraft({ namespaces: [`c26-${made}-${i}`] })));
      const { seq, history, head } = await ask();
      expect([seq, history, head]).toEqual([0, 1, before - 10 + made]);
      pass(LEASE_MS + 1_000);
      expect(await confirmed()).toBe(head);
    },
  );
});

describeOnPostgres("A commit that hangs", (store) => {
  test("is confirmed by the time since it could be seen, not since its number was taken", async () => {
    const { confirmed, pass } = confirmerOf(store());
    await makeTeam(store());
    await registerReplica(store(), "stuck");
    const before = await confirmed();
    const [numbered, committing] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    const made = store()
      .db.transaction()
      .execute(async (tx) => {
        await saveTeam(tx, teamDraft({ namespaces: ["hanging"] }));
        await sql`set constraints all immediate`.execute(tx);
        numbered.resolve((await tx.selectFrom("feed").select("head").executeTakeFirstOrThrow()).head);
        await committing.promise;
      });
    const seq = await numbered.promise;
    expect(await confirmed()).toBe(before);
    pass(LEASE_MS + 1_000);
    const whileItHangs = await confirmed();
    committing.resolve();
    await made;
    expect(whileItHangs).toBe(seq - 1);
    expect(await confirmed()).toBeLessThan(seq);
    pass(LEASE_MS + 1_000);
    expect(await confirmed()).toBe(seq);
  });
});
