import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../env/until.ts";
import type { OpenCall } from "./open-calls.ts";
import { type BenchKey, type BenchReplica, type RevocationWorld, startRevocationWorld } from "./revocation-world.ts";
import { figure, quantile, table } from "./table.ts";

const REVOCATIONS = 800;
const REVOCATIONS_UNDER_FAULT = 50;
/** Each with an upload and a stream on every replica. */
const REVOCATIONS_OF_OPEN_CALLS = 20;
const CHANGES_PER_SECOND = 500;
/** As promised (architecture §3), in milliseconds. */
const BOUND = 5_000;
/** Between two revocations. Milliseconds. */
const PACE = 45;
const PACE_UNDER_FAULT = 100;
/** How long a key is asked with before it is revoked. Milliseconds. */
const BEFORE = 15;

/** Does it to the replicas for a while, beside the revocations. */
type Diagnostic = readonly [what: string, strike: (world: RevocationWorld) => Promise<void>];

const FAULTS: readonly Diagnostic[] = [
  ["listeners cut, twice a second", (world) => repeatedly(10, 500, () => world.cutListeners())],
  ["notifications lost for 5 s", ({ replicas }) => lose(replicas, 5_000)],
  ["database black-holed for 3 s", ({ replicas }) => blackHole(replicas, 3_000)],
  ["database black-holed for 8 s", ({ replicas }) => blackHole(replicas, 8_000)],
  ["one replica's database black-holed for 8 s", ({ replicas }) => blackHole(replicas.slice(0, 1), 8_000)],
  ["every database connection reset, twice a second", ({ replicas }) => repeatedly(8, 500, () => resetAll(replicas))],
  ["one process stopped for 3 s", ({ replicas }) => stopProcess(replicas, 3_000)],
  ["one process stopped for 8 s", ({ replicas }) => stopProcess(replicas, 8_000)],
];

/**
 * Measures how long replicas let a key through after its revocation was committed: at rest, under changes, under
 * faults.
 */
export async function benchRevocation(): Promise<string> {
  const world = await startRevocationWorld();
  try {
    return await measure(world);
  } finally {
    await world.end();
  }
}

/** Milliseconds from the commit of a revocation to the last byte, of each upload and of each stream. */
type OpenMeasured = { readonly what: string; readonly uploads: readonly number[]; readonly streams: readonly number[] };

type Measured = { readonly what: string; readonly keys: readonly BenchKey[] };

async function measure(world: RevocationWorld): Promise<string> {
  await world.makeKeys("changed", 500);
  const keysFor = (count: number) => world.makeKeys("revoked", count);
  await revokeAll(world, await keysFor(50), PACE);
  const runs: Measured[] = [];

  const idle = await keysFor(REVOCATIONS);
  await revokeAll(world, idle, PACE);
  runs.push({ what: "no other changes", keys: idle });

  const busy = await keysFor(REVOCATIONS);
  const changes = await startChanges(world.url);
  await revokeAll(world, busy, PACE);
  runs.push({ what: `${changes.end()} key changes a second`, keys: busy });

  for (const [what, strike] of FAULTS) {
    const keys = await keysFor(REVOCATIONS_UNDER_FAULT);
    const struck = strike(world);
    await revokeAll(world, keys, PACE_UNDER_FAULT);
    await struck;
    await allRefused(world);
    runs.push({ what, keys });
  }
  const open = [
    await revokeOpenCalls(world, "no fault", async () => {}),
    await revokeOpenCalls(world, "database black-holed for 8 s", ({ replicas }) => blackHole(replicas, 8_000)),
  ];
  return report(world, runs, open);
}

/** Revokes keys, each with calls under way on every replica, and waits until all of these have ended. */
async function revokeOpenCalls(world: RevocationWorld, what: string, strike: Diagnostic[1]): Promise<OpenMeasured> {
  const { openCalls, replicas } = world;
  const keys = await world.makeKeys("open", REVOCATIONS_OF_OPEN_CALLS);
  const calls: Record<"uploads" | "streams", readonly OpenCall[]>[] = [];
  for (const { plaintext } of keys) {
    const uploads = await Promise.all(replicas.map(({ serving }) => openCalls.upload(serving.url, plaintext)));
    const streams = await Promise.all(replicas.map(({ serving }) => openCalls.stream(serving.url, plaintext)));
    calls.push({ uploads, streams });
  }
  const struck = strike(world);
  for (const key of keys) {
    await world.revoke(key);
    await delay(PACE_UNDER_FAULT);
  }
  await struck;
  await Promise.all(calls.flatMap(({ uploads, streams }) => [...uploads, ...streams].map(({ ended }) => ended)));
  const committed = await world.committedAt(keys);
  const late = (kind: "uploads" | "streams"): number[] =>
    keys.flatMap(({ id }, i) =>
      (calls[i]?.[kind] ?? []).map((call) => Math.max(0, call.lastByte() - (committed.get(id) ?? Number.NaN))),
    );
  return { what, uploads: late("uploads"), streams: late("streams") };
}

/** Revokes keys one after the other, and waits until every replica refuses every one of them. */
async function revokeAll(world: RevocationWorld, keys: readonly BenchKey[], pace: number): Promise<void> {
  for (const key of keys) {
    for (const { prober } of world.replicas) prober.watch(key.plaintext);
    await delay(BEFORE);
    await world.revoke(key);
    await delay(pace - BEFORE);
  }
  if (pace === PACE) await allRefused(world);
}

async function allRefused({ replicas }: RevocationWorld): Promise<void> {
  await until("every replica refuses every revoked key", () => replicas.every(({ prober }) => prober.watched === 0));
}

async function startChanges(url: string): Promise<{ end(): string }> {
  const file = join(import.meta.dirname, "changes-process.ts");
  const child = spawn(process.execPath, [file, url, "changed", String(CHANGES_PER_SECOND)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = "";
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    last = line;
  });
  await once(lines, "line");
  return {
    end() {
      child.kill("SIGTERM");
      const [, done, seconds] = /^(\d+) in (\S+) s$/.exec(last) ?? [];
      return figure(Number(done) / Number(seconds));
    },
  };
}

async function report(
  world: RevocationWorld,
  runs: readonly Measured[],
  open: readonly OpenMeasured[],
): Promise<string> {
  const all = runs.flatMap(({ keys }) => keys);
  const committed = await world.committedAt(all);
  const rows = runs.flatMap(({ what, keys }) =>
    world.replicas.map(({ prober }, i) => {
      const after = keys.map(({ id, plaintext }) => prober.lastAccept(plaintext) - (committed.get(id) ?? Number.NaN));
      // A key that was not let through after its commit has nothing to add; one that never was measures nothing.
      const late = after.filter((ms) => !Number.isNaN(ms)).map((ms) => Math.max(0, ms));
      return [
        i === 0 ? what : "",
        String(i + 1),
        figure(late.length),
        ...[0.5, 0.99, 1].map((share) => (late.length === 0 ? "" : figure(quantile(late, share), 1))),
        figure(late.filter((ms) => ms > BOUND).length),
      ];
    }),
  );
  const heads = ["commit to last accept, ms", "replica", "revocations", "p50", "p99", "max", `after ${BOUND} ms`];
  const answers = world.replicas.map(({ prober }, i) => [
    `replica ${i + 1}`,
    ...[200, 401, 503, 0].map((status) => figure(prober.answers.get(status) ?? 0)),
  ]);
  const openRows = open.flatMap(({ what, uploads, streams }) =>
    [["uploads", uploads] as const, ["streams", streams] as const].map(([kind, late]) => [
      `${kind}, ${what}`,
      figure(late.length),
      ...[0.5, 0.99, 1].map((share) => figure(quantile(late, share), 1)),
      figure(late.filter((ms) => !(ms <= BOUND)).length),
    ]),
  );
  const openHeads = ["commit to last byte, ms", "calls", "p50", "p99", "max", `after ${BOUND} ms`];
  return [
    table(heads, rows),
    table(openHeads, openRows),
    table(["answers", "200", "401", "503", "broken"], answers),
    `${figure(all.length)} revocations on ${world.replicas.length} replicas`,
  ].join("\n\n");
}

async function repeatedly(times: number, pause: number, act: () => unknown): Promise<void> {
  for (let i = 0; i < times; i++) {
    await act();
    await delay(pause);
  }
}

function resetAll(replicas: readonly BenchReplica[]): void {
  for (const { proxy } of replicas) proxy.reset();
}

async function lose(replicas: readonly BenchReplica[], ms: number): Promise<void> {
  for (const replica of replicas) replica.loses = true;
  await delay(ms);
  for (const replica of replicas) replica.loses = false;
}

/** Connections that were open then stay dead for ever; only new ones pass afterwards. */
async function blackHole(replicas: readonly BenchReplica[], ms: number): Promise<void> {
  for (const { proxy } of replicas) proxy.freeze();
  await delay(ms);
  for (const { proxy } of replicas) proxy.thaw();
}

async function stopProcess([replica]: readonly BenchReplica[], ms: number): Promise<void> {
  replica?.serving.child.kill("SIGSTOP");
  await delay(ms);
  replica?.serving.child.kill("SIGCONT");
}
