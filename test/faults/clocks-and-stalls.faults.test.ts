/** Machines whose clocks jump, and processes that stand still: what a replica decides then, on a real PostgreSQL. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LEASE_MS } from "../../domain/protocol.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam, NOW } from "../store/fixtures.ts";
import { databaseBehindProxy, follow } from "./feed-fixtures.ts";

// By itself: it holds up whatever runs in this process.
describe("a replica in a process that is held up", () => {
  it("c38: an event loop that was busy beyond the lease decides nothing before it has asked anew", async (context) => {
    const database = await databaseBehindProxy(context);
    const key = await storeKey(database.direct, await makeTeam(database.direct));
    const replica = follow(context, database);
    await until("the key works", () => replica.accepts(key.digest));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LEASE_MS + 200);
    // In the same turn: nothing has had a chance to notice.
    expect(replica.accepts(key.digest)).toBe(false);
    expect(replica.view.isCurrent()).toBe(false);
    await until("it decides again", () => replica.accepts(key.digest));
  });
});

describe.concurrent("a replica and its clocks", () => {
  it("c38: requests that waited while the process stood still are decided by the lease as it is then", async (context) => {
    const { url, direct } = await databaseBehindProxy(context);
    const key = await storeKey(direct, await makeTeam(direct));
    const server = await startServing(["server", "--port", "0", "--admin-port", "0"], {
      KEYPLANE_DATABASE_URL: url,
      KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    });
    context.onTestFinished(async () => {
      server.child.kill("SIGCONT");
      await server.stop();
    });
    const ask = async () =>
      (await fetch(`${server.url}/atoms`, { headers: { authorization: `Bearer ${key.plaintext}` } })).status;
    expect(await ask()).toBe(200);

    server.child.kill("SIGSTOP");
    const stoppedAt = performance.now();
    const waiting = Promise.all(Array.from({ length: 40 }, ask));
    await key.revoke();
    await until("the lease is long over", () => performance.now() - stoppedAt > LEASE_MS + 1_500);
    server.child.kill("SIGCONT");
    const statuses = await waiting;
    expect(statuses.filter((status) => status !== 401 && status !== 503)).toEqual([]);
    await until("the key is refused as such", async () => (await ask()) === 401);
  });

  it.for(NIGHTLY ? [3_600_000, -3_600_000, 1_500] : [1_500])(
    "c39: a wall clock that jumps by %i ms ends the lease, and the next answer's lease is as long as ever",
    async (jump, context) => {
      const database = await databaseBehindProxy(context);
      const home = await makeTeam(database.direct);
      const key = await storeKey(database.direct, home, { expiresAfter: Date.now() + 30_000 - NOW });
      const dead = await storeKey(database.direct, home, { expiresAfter: Date.now() - 1_500 - NOW });
      const replica = follow(context, database);
      await until("the key works", () => replica.accepts(key.digest));
      replica.clock.wall += jump;
      expect(replica.view.isCurrent()).toBe(false);
      await until("it decides again", () => replica.accepts(key.digest));
      expect(replica.accepts(dead.digest), "an expired key stays so").toBe(false);
      database.proxy.freeze();
      replica.clock.steady += LEASE_MS;
      replica.clock.wall += LEASE_MS;
      expect(replica.view.isCurrent(), "the jump has not lengthened it").toBe(false);
    },
  );

  it("c39: on a slow network expiry is decided within a second of the database's time", async (context) => {
    const database = await databaseBehindProxy(context);
    const replica = follow(context, database);
    await until("it is current", () => replica.view.isCurrent());
    database.proxy.slow(900);
    const before = replica.replica.databaseTimeAtBeat();
    await until("the time arrived over the slow network", () => {
      const { seq, age } = replica.replica.figures();
      return seq >= 0 && age > 1.5 && replica.replica.databaseTimeAtBeat() !== before;
    });
    expect(Math.abs(replica.replica.now() - Date.now())).toBeLessThan(1_000);
  });
});
