/** What happens to the news of a revocation on its way from a real PostgreSQL to a replica. */
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { LEASE_MS } from "../../domain/protocol.ts";
import { createMetrics } from "../../processes/metrics.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { StreamRegistry } from "../../server/calls/open-streams.ts";
import { type Feed, feedOf } from "../../server/key-index/feed.ts";
import { Replica } from "../../server/key-index/replica.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { dropNotifications, repeatNotifications } from "../env/notifications.ts";
import { until, untilNoLonger } from "../env/until.ts";
import { keyring, storeKey } from "../server/key-index/replica-fixtures.ts";
import { digestOf, makeTeam, reserveKey, run } from "../store/fixtures.ts";
import { feedHead } from "../store/questions.ts";
import { databaseBehindProxy, follow, metricOf } from "./feed-fixtures.ts";

describe("the change feed on its way to a replica", () => {
  const MOMENTS: readonly (readonly [string, "before" | "after", "register" | "listen" | "snapshot" | "heartbeat"])[] =
    [
      ["before it registers", "before", "register"],
      ["before it listens", "before", "listen"],
      ["between its listening and its snapshot", "after", "listen"],
      ["while its snapshot is on the way", "after", "snapshot"],
      ["while its first question for the head is on the way", "before", "heartbeat"],
    ];
  it.for(MOMENTS)(
    "c28: a revocation %s is known to a replica that is current",
    async ([_when, side, question], context) => {
      const database = await databaseBehindProxy(context, () => dropNotifications());
      const key = await storeKey(database.direct, await makeTeam(database.direct));
      const real = feedOf(database.store, database.feedStore, []);
      let revoked = false;
      /** The question, with the revocation committed right before it is put or right after it was answered. */
      const struck =
        <Args extends unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
        async (...args: Args): Promise<Answer> => {
          if (side === "before" && !revoked) await key.revoke();
          const answer = await ask(...args);
          if (side === "after" && !revoked) await key.revoke();
          revoked = true;
          return answer;
        };
      const feed: Feed = {
        ...real,
        ...(question === "register" && { register: struck(real.register) }),
        ...(question === "listen" && { listen: struck(real.listen) }),
        ...(question === "snapshot" && { snapshot: struck(real.snapshot) }),
        ...(question === "heartbeat" && { heartbeat: struck(real.heartbeat) }),
      };
      const replica = new Replica({
        id: "starting",
        feed,
        leaseMs: LEASE_MS,
        keyring,
        clock: systemClock,
        log: createLog("silent"),
        metrics: createMetrics(),
        streams: new StreamRegistry(() => {}),
        placeholders: [],
      });
      replica.start();
      context.onTestFinished(() => replica.close());
      let isCurrent = false;
      await until("the replica is current", async () => {
        // The very first moment counts: the next beat would hide what this one missed.
        for (let i = 0; i < 1_000 && !isCurrent; i++) {
          await turnOfTheLoop();
          isCurrent = replica.view.isCurrent();
        }
        return isCurrent;
      });
      expect(revoked).toBe(true);
      // A revocation that committed after the head was asked for may be unknown for as long as the lease.
      const isInTime = question !== "heartbeat" || side === "before";
      expect(isInTime && (replica.view.findKey(key.digest)?.state ?? "revoked")).toBe("revoked");
    },
  );
});

// Each waits for the most part: for a beat, or for the lease.
describe.concurrent("the change feed on its way to a replica that is current", () => {
  it("c29: a replica whose notifications get lost knows of a revocation with its next beat", async (context) => {
    const database = await databaseBehindProxy(context, () => dropNotifications());
    const key = await storeKey(database.direct, await makeTeam(database.direct));
    const replica = follow(context, database);
    await until("the key works", () => replica.accepts(key.digest));
    await key.revoke();
    const revokedAt = performance.now();
    const acceptedAt = await untilNoLonger("it is accepted", () => replica.accepts(key.digest));
    expect(replica.view.findKey(key.digest)?.state).toBe("revoked");
    expect(acceptedAt - revokedAt).toBeLessThan(LEASE_MS);
  });

  it("c29: connections that break at every moment let nothing be missed", async (context) => {
    const database = await databaseBehindProxy(context);
    const home = await makeTeam(database.direct);
    const keys = await Promise.all(Array.from({ length: NIGHTLY ? 10 : 4 }, () => storeKey(database.direct, home)));
    const replica = follow(context, database);
    await until("the keys work", () => keys.every(({ digest }) => replica.accepts(digest)));
    for (const key of keys) {
      database.proxy.reset();
      await key.revoke();
      const revokedAt = performance.now();
      const acceptedAt = await untilNoLonger("it is accepted", () => replica.accepts(key.digest));
      expect(acceptedAt - revokedAt).toBeLessThan(LEASE_MS);
    }
    await until("it follows again", () => replica.view.isCurrent());
    expect(keys.map(({ digest }) => replica.view.findKey(digest)?.state)).toEqual(keys.map(() => "revoked"));
  });

  it("c30: notifications that come three times, late, in another order and with nonsense in them change nothing", async (context) => {
    const database = await databaseBehindProxy(context, repeatNotifications);
    const home = await makeTeam(database.direct);
    const replica = follow(context, database);
    await until("the replica is current", () => replica.view.isCurrent());
    const made = [];
    for (let i = 0; i < 20; i++) {
      const key = await storeKey(database.direct, home);
      if (i % 2 === 0) await key.revoke();
      made.push(key);
    }
    const { rows } = await sql<{ head: number }>`select head from feed`.execute(database.direct.db);
    await until("the replica is at the head", () => replica.view.lastSeq() === rows[0]?.head);
    expect(made.map(({ digest }) => replica.accepts(digest))).toEqual(made.map((_, i) => i % 2 === 1));
    expect(replica.lines.filter((line) => line.includes("the key index was loaded"))).toHaveLength(1);
    expect(await metricOf(replica, "keyplane_index_database_rollbacks_total")).toBe(0);
  });

  it("c33: with a queue of notifications that is full a revocation commits, and is known in time", async (context) => {
    const server = await startOwnPostgres({ max_notify_queue_pages: "64" });
    const database = await databaseBehindProxy(context, undefined, { url: server.url, drop: () => server.stop() });
    const key = await storeKey(database.direct, await makeTeam(database.direct));
    const replica = follow(context, database);
    await until("the key works", () => replica.accepts(key.digest));

    const idle = new pg.Client({ connectionString: server.url });
    idle.on("error", () => {});
    await idle.connect();
    await idle.query("listen somewhere");
    await idle.query("begin");
    await idle.query("select 1");
    const filler = await openPostgres(server.url);
    const fill = () => sql`select pg_notify('elsewhere', repeat('x', 7000) || n) from generate_series(1, 20) n`;
    await expect(async () => {
      for (;;) await fill().execute(filler.db);
    }).rejects.toThrow(/too many notifications/);

    await key.revoke();
    const revokedAt = performance.now();
    const acceptedAt = await untilNoLonger("it is accepted", () => replica.accepts(key.digest));
    expect(acceptedAt - revokedAt).toBeLessThan(LEASE_MS);
    expect(replica.view.findKey(key.digest)?.state).toBe("revoked");
    await until("the queue is complained of", () =>
      replica.lines.some((line) => line.includes("queue of notifications")),
    );
    expect(replica.replica.figures().notificationQueue).toBeGreaterThanOrEqual(0.5);
    await filler.close();
    await idle.end();
  });

  it("c34: while what it has to read is locked a replica stops deciding with its index whole, and goes on after it", async (context) => {
    const database = await databaseBehindProxy(context);
    const home = await makeTeam(database.direct);
    const [revoked, other] = [await storeKey(database.direct, home), await storeKey(database.direct, home)];
    const replica = follow(context, database);
    await until("both work", () => replica.accepts(revoked.digest) && replica.accepts(other.digest));
    const released = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = database.direct.db.transaction().execute(async (tx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
      await sql`lock table key_libraries in access exclusive mode`.execute(tx);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    await revoked.revoke();
    const revokedAt = performance.now();
    const decidedAt = await untilNoLonger("it decides", () => replica.view.isCurrent());
    expect(decidedAt - revokedAt).toBeLessThan(LEASE_MS);
    expect(replica.replica.figures().keys, "nothing was taken in by halves").toBe(2);
    expect(replica.view.findKey(revoked.digest)?.state).toBe("active");
    released.resolve();
    await lock;
    await until("it decides again", () => replica.view.isCurrent());
    expect([replica.accepts(revoked.digest), replica.accepts(other.digest)]).toEqual([false, true]);
  });
});

// By itself: it looks in every turn of the loop.
describe("the index of a replica", () => {
  it("c35: that is built anew again and again, under revocations, is never empty, never half and never older", async (context) => {
    const database = await databaseBehindProxy(context);
    const { direct } = database;
    const home = await makeTeam(direct);
    const keys = [];
    for (let i = 0; i < (NIGHTLY ? 30 : 8); i++) keys.push(await storeKey(direct, home));
    // More than are taken in between two turns of the event loop.
    const total = 6_000;
    const template = await reserveKey(direct, home);
    for (let last = 0; last < total; last += 1_000) {
      const numbers = sql`generate_series(${last + 1}::int, ${last + 1_000}::int) n`;
      await run(direct, async (tx) => {
        await sql`insert into keys (id, cluster, namespace, name, team_id, source, state, display_name, scopes,
            gateway_bound, library_mode, generation)
          select 'bulk_' || n, cluster, namespace, 'bulk' || n, team_id, source, state, '', scopes, false, 'all', 1
          from keys, ${numbers} where id = ${template.key.id}`.execute(tx);
        await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at)
          select 'bulk_' || n, 1, sha256(convert_to('bulk' || n, 'UTF8')), 'inf_bulk', 'active', 'minted', now()
          from ${numbers}`.execute(tx);
      });
    }
    const replica = follow(context, database);
    const bulk = [1, total / 2, total].map((n) => digestOf(`bulk${n}`));
    await until("the replica is current", () => replica.view.isCurrent());
    const loads = () => replica.lines.filter((line) => line.includes("the key index was loaded")).length;

    const refused = new Set<string>();
    const faults: string[] = [];
    let looks = 0;
    let looking = true;
    const looker = (async () => {
      while (looking) {
        await turnOfTheLoop();
        looks++;
        if (bulk.some((digest) => replica.view.findKey(digest) === undefined)) faults.push("a key was not there");
        for (const { digest } of keys) {
          const record = replica.view.findKey(digest);
          if (record?.state === "active" && refused.has(digest)) faults.push("a revoked key was alive again");
          if (record?.state !== "active") refused.add(digest);
        }
      }
    })();
    for (const [i, key] of keys.entries()) {
      await key.revoke();
      if (i % 3 !== 0) continue;
      const head = await feedHead(direct);
      await until("the replica has it", () => replica.view.lastSeq() === head);
      // As after a failover: another change of the same number.
      await sql`update changes set id = gen_random_uuid() where seq = (select head from feed)`.execute(direct.db);
    }
    await until("all are refused", () => refused.size === keys.length && replica.view.isCurrent());
    looking = false;
    await looker;
    expect(faults).toEqual([]);
    expect(looks).toBeGreaterThan(100);
    expect(loads()).toBeGreaterThan(Math.ceil(keys.length / 3));
  });
});
