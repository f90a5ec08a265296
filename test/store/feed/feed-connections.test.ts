import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { LEASE_RANGE_MS } from "../../../domain/protocol.ts";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { changesAfter } from "../../../store/feed/change-feed.ts";
import { FEED_CONNECTIONS } from "../../../store/feed/feed-connections.ts";
import { heartbeat } from "../../../store/replicas/replicas.ts";
import { freshDatabase } from "../../env/database/engines.ts";

test("a connection of the feed plans what it asks all the time once, not with each of the first changes", async (context) => {
  const { url, drop } = await freshDatabase();
  const store = await openPostgres(url, { ...FEED_CONNECTIONS, maxConnections: 1 });
  context.onTestFinished(async () => {
    await store.close();
    await drop();
  });
  await migrate(store);
  for (let i = 0; i < 3; i++) {
    await changesAfter(store, 0, 1_000);
    await heartbeat(store, "a", { seq: 0, id: null });
  }
  const { rows } = await sql`
    select custom_plans::int4 as anew, generic_plans::int4 as kept from pg_prepared_statements`.execute(store.db);
  expect(rows).toEqual([
    { anew: 0, kept: 3 },
    { anew: 0, kept: 3 },
  ]);
});

test("a connection of the feed is kept from one beat of the longest lease to the next", async (context) => {
  const { url, drop } = await freshDatabase();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const store = await openPostgres(url, FEED_CONNECTIONS);
  context.onTestFinished(async () => {
    vi.useRealTimers();
    await store.close();
    await drop();
  });
  const session = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(store.db)).rows;
  const first = await session();
  await vi.advanceTimersByTimeAsync(LEASE_RANGE_MS.most / 5);
  expect(await session()).toEqual(first);
});
