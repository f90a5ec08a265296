import { sql } from "kysely";
import { expect, test } from "vitest";
import { LEASE_MS } from "../../domain/protocol.ts";
import type { Mount } from "../../server/app.ts";
import { openEmbedded } from "../env/database/embedded-database.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { startCurrentServer } from "../server/current-server.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam } from "../store/fixtures.ts";

const LOOPS = 100;
/** As many as keep the connection taken for a second, by night for several. */
const STATEMENTS = NIGHTLY ? 100 : 30;

test("b87: every decision is made and the lease is renewed while one team's calls of the memory queue up on the embedded default", async (context) => {
  const store = await openEmbedded();
  context.onTestFinished(() => store.close());
  const key = await storeKey(store, await makeTeam(store));
  const list: Mount = {
    at: "",
    routes: (app) => void app.get("/list", { config: { operation: "atoms.list" } }, async () => ({ items: [] })),
  };
  const server = await startCurrentServer(context, { store, feedStore: store.feedStore, mounts: [list] });
  const run = (teamId: string, numbers: number) =>
    store.memory.run({ teamId, signal: new AbortController().signal }, (db) =>
      sql`select count(*) from generate_series(1, ${numbers}::int)`.execute(db),
    );
  let asked = 0;
  let answered = 0;
  const loop = async () => {
    while (asked++ < STATEMENTS) {
      // One that waits for longer than its time is refused, which is as good.
      await run("greedy", NIGHTLY ? 200_000 : 60_000).catch(() => {});
      answered++;
    }
  };
  const loops = Promise.all(Array.from({ length: LOOPS }, loop));
  const statuses = new Set<number>();
  const ages: number[] = [];
  const between: number[] = [];
  const askAsOther = async () => {
    while (answered < STATEMENTS) {
      const before = answered;
      await run("other", 1);
      between.push(answered - before);
    }
  };
  const others = askAsOther();
  await until("the statements are answered", async () => {
    statuses.add((await fetch(`${server.url}/list`, { headers: { "x-api-key": key.plaintext } })).status);
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
    ages.push(Number(/^keyplane_index_age_seconds (\S+)$/m.exec(metrics)?.[1]));
    return answered >= STATEMENTS;
  });
  await Promise.all([loops, others]);
  expect([...statuses]).toEqual([200]);
  expect(ages.length).toBeGreaterThan(STATEMENTS / 10);
  expect(Math.max(...ages)).toBeLessThan(LEASE_MS / 1_000);
  // One that ran already, and one whose turn it was.
  expect(Math.min(...between)).toBeLessThanOrEqual(2);
});
