import { setTimeout as delay } from "node:timers/promises";
import { type ScaleWorld, startScaleWorld } from "./scale-world.ts";
import { figure, quantile, table } from "./table.ts";

const REPLICAS = (process.env.KEYPLANE_BENCH_REPLICAS ?? "3,30,100,300").split(",").map(Number);
/** The first changes that a replica's connections meet: their statements are planned then. */
const FIRST = 10;
const CHANGES = 40;
/** Between two changes. Milliseconds. */
const PACE = 400;
const FLOOD = 1_000;
/** Between two changes of a flood. Milliseconds. */
const FLOOD_PACE = 10;
/** Until nothing of what was done before is measured any more: idle connections are closed after 10 s. Milliseconds. */
const SETTLING = 15_000;

/** Measures what a change of a key costs the database, by the number of replicas that follow. */
export async function benchScale(): Promise<string> {
  const rows: string[][] = [];
  for (const replicas of REPLICAS) {
    const world = await startScaleWorld(replicas, FIRST + CHANGES);
    try {
      rows.push(await measure(world, replicas));
    } finally {
      await world.end();
    }
  }
  const heads = [
    ...["replicas", "CPU ms a change", `of the first ${FIRST}`, "of a flood", "transactions a change"],
    ...["commit to receipt ms, p50", "p99", "unconfirmed", "at rest, % of a core", "connections"],
  ];
  return table(heads, rows);
}

async function measure(world: ScaleWorld, replicas: number): Promise<string[]> {
  await delay(SETTLING);
  const first = await revokeAll(world, world.keyIds.slice(0, FIRST));
  await delay(SETTLING);
  const later = await revokeAll(world, world.keyIds.slice(FIRST));
  const rest = await spent(world, () => delay(later.lastedMs));
  const flood = await spent(world, () => changeMany(world));
  const beyondRest = (name: "cpuMs" | "transactions", run: Spent, changes: number) =>
    figure((run[name] - (rest[name] * run.lastedMs) / rest.lastedMs) / changes, 1);
  const took = later.result.map(({ tookMs }) => tookMs);
  return [
    figure(replicas),
    beyondRest("cpuMs", later, CHANGES),
    beyondRest("cpuMs", first, FIRST),
    beyondRest("cpuMs", flood, FLOOD),
    beyondRest("transactions", later, CHANGES),
    figure(quantile(took, 0.5), 1),
    figure(quantile(took, 0.99), 1),
    figure(later.result.filter(({ confirmed }) => !confirmed).length),
    figure((rest.cpuMs / rest.lastedMs) * 100, 1),
    figure((await world.account()).connections),
  ];
}

type Spent = { readonly lastedMs: number; readonly cpuMs: number; readonly transactions: number };

/** What the database takes and does during an act. */
async function spent<T>(world: ScaleWorld, act: () => Promise<T>): Promise<Spent & { readonly result: T }> {
  const before = await world.account();
  const from = performance.now();
  const result = await act();
  const lastedMs = performance.now() - from;
  const after = await world.account();
  const transactions = after.transactions - before.transactions;
  return { result, lastedMs, cpuMs: after.cpuMs - before.cpuMs, transactions };
}

/** One after the other, each with its receipt. */
function revokeAll(world: ScaleWorld, keyIds: readonly string[]) {
  return spent(world, async () => {
    const receipts: Awaited<ReturnType<ScaleWorld["revoke"]>>[] = [];
    for (const keyId of keyIds) {
      const [receipt] = await Promise.all([world.revoke(keyId), delay(PACE)]);
      receipts.push(receipt);
    }
    return receipts;
  });
}

/** Without a receipt, and so many a second: what the database is behind is not made up for. */
async function changeMany(world: ScaleWorld): Promise<void> {
  const under: Promise<void>[] = [];
  for (let i = 0; i < FLOOD; i++) {
    const keyId = world.keyIds[i % world.keyIds.length] ?? "";
    const changing = world.change(keyId, `library-${i}`);
    // The wait for all of them reports it.
    changing.catch(() => {});
    under.push(changing);
    await delay(FLOOD_PACE);
  }
  await Promise.all(under);
}
