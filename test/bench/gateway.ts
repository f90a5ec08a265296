import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { mintKey } from "../../domain/key/secret/key-format.ts";
import { type Contestants, startContestants } from "./contestants.ts";
import { startPeers } from "./peers.ts";
import { type Contestant, cpuMicroseconds, findProgram, Processes, residentMegabytes } from "./processes.ts";
import { measureCapacity, measureStreams } from "./streams.ts";
import { figure, median, quantile, table } from "./table.ts";
import {
  CONNECTIONS,
  callSequentially,
  type LoadGenerator,
  load,
  PATH,
  REFUSED_PATH,
  STREAM_PATH,
  writeWrkScript,
} from "./traffic.ts";

const KEYS = Number(process.env.KEYPLANE_BENCH_GATEWAY_KEYS ?? 100_000);
const ROUNDS = 3;
const SECONDS = 5;
/** Until the compilers are done with what is hot. */
const WARM_UP_SECONDS = 5;
const SEQUENTIAL_CALLS = 2_000;
/** Unknown keys of a flood. */
const STRANGERS = 1_000;
/** How long the database is away, in milliseconds. */
const PAUSE_MS = 3_000;

type Run = {
  readonly perSecond: number;
  readonly cpu: number;
  readonly resident: number;
  readonly latencies: readonly number[];
};

/** Measures the gateway beside nginx, beside Node's own floor and its peers, in one run, each in turn. */
export async function benchGateway(): Promise<string> {
  const [nginx, wrk] = [findProgram("nginx"), findProgram("wrk")];
  if (nginx === undefined || wrk === undefined) {
    const missing = nginx === undefined ? "nginx" : "wrk";
    return `The gateway was not measured: there is no ${missing} here (Debian: apt-get install nginx-light wrk).`;
  }
  const folder = await mkdtemp(join(tmpdir(), "keyplane-bench-"));
  const processes = new Processes();
  const keys = Array.from({ length: KEYS }, () => mintKey(randomBytes));
  const nodeFlags = (process.env.KEYPLANE_BENCH_NODE_FLAGS ?? "").split(" ").filter(Boolean);
  let world: Contestants | undefined;
  try {
    world = await startContestants({ processes, folder, nginx, keys, nodeFlags });
    return await measure(world, { processes, folder, wrk, keys });
  } finally {
    await processes.stop();
    await world?.database.close();
    await rm(folder, { recursive: true });
  }
}

/** What the measurements are made with. */
type Bench = {
  readonly processes: Processes;
  readonly folder: string;
  readonly wrk: string;
  readonly keys: readonly string[];
};

async function measure(world: Contestants, { processes, folder, wrk, keys }: Bench): Promise<string> {
  const [key = ""] = keys;
  const calls = { wrk, script: await writeWrkScript(folder, "call", { path: PATH, keys }) };
  const { nginx, floor, keyplane, twoWorkers, up, upstream, streamUpstream } = world;
  const contestants = [nginx, floor, keyplane, twoWorkers, up];
  const runs = new Map<string, Run[]>();
  const direct: number[][] = [];
  for (const { port } of contestants) await load(calls, port, WARM_UP_SECONDS);
  for (let round = 0; round < ROUNDS; round++) {
    direct.push(await callSequentially(upstream.port, key, SEQUENTIAL_CALLS));
    for (const contestant of contestants) {
      const run = await loadRun(calls, contestant);
      const latencies = await callSequentially(contestant.port, key, SEQUENTIAL_CALLS);
      runs.set(contestant.name, [...(runs.get(contestant.name) ?? []), { ...run, latencies }]);
    }
  }
  const latencies = latencyTable(runs, direct);
  const streams = await measureStreams(
    [
      { name: "the upstream itself", port: streamUpstream.port, path: STREAM_PATH },
      { name: SHOWN.nginx ?? "", port: nginx.port, path: STREAM_PATH },
      { name: SHOWN.keyplane ?? "", port: keyplane.port, path: STREAM_PATH },
    ],
    key,
  );
  const capacity = await measureCapacity(keyplane, STREAM_PATH, keys);
  const flood = await measureFlood(world, folder, wrk);
  const pause = await measurePause(world, calls);
  const { peers, missing } = await startPeers(processes, folder, upstream.port);
  for (const { contestant, call } of peers) {
    const own = { wrk, script: await writeWrkScript(folder, contestant.name, call) };
    await load(own, contestant.port, WARM_UP_SECONDS);
    runs.set(contestant.name, [{ ...(await loadRun(own, contestant)), latencies: [] }]);
  }
  return [throughputTable(runs), latencies, streams, capacity, flood, [pause, ...missing].join("\n")].join("\n\n");
}

async function loadRun(calls: LoadGenerator, { port, pid }: Contestant): Promise<Omit<Run, "latencies">> {
  const before = cpuMicroseconds(pid);
  const { requests, perSecond } = await load(calls, port, SECONDS);
  return { perSecond, cpu: (cpuMicroseconds(pid) - before) / requests, resident: residentMegabytes(pid) };
}

const SHOWN: Readonly<Record<string, string>> = {
  nginx: `nginx, a map of ${figure(KEYS)} keys`,
  node: "node:http and undici, deciding nothing",
  keyplane: `Keyplane, ${figure(KEYS)} keys`,
  keyplane2: "Keyplane, two workers",
  up: "keyplane up, in one process",
  portkey: "Portkey gateway, no key of its own",
  litellm: "LiteLLM, the master key alone",
};

function throughputTable(runs: ReadonlyMap<string, readonly Run[]>): string {
  const of = (name: string) => {
    const each = runs.get(name) ?? [];
    return {
      perSecond: median(each.map(({ perSecond }) => perSecond)),
      cpu: median(each.map(({ cpu }) => cpu)),
      resident: median(each.map(({ resident }) => resident)),
    };
  };
  const [nginx, floor] = [of("nginx"), of("node")];
  const rows = [...runs.keys()].map((name) => {
    const { perSecond, cpu, resident } = of(name);
    const ratios = [figure(perSecond / nginx.perSecond, 3), figure(cpu / nginx.cpu, 2), figure(cpu / floor.cpu, 2)];
    return [SHOWN[name] ?? name, figure(perSecond), figure(cpu, 1), ...ratios, figure(resident)];
  });
  const what = `1 KB of JSON, ${CONNECTIONS} connections`;
  const columns = ["requests/s", "CPU us/request", "rate : nginx", "CPU : nginx", "CPU : node", "resident MB"];
  return table([what, ...columns], rows);
}

function latencyTable(runs: ReadonlyMap<string, readonly Run[]>, direct: readonly (readonly number[])[]): string {
  const at = (rounds: readonly (readonly number[])[], share: number) =>
    median(rounds.map((latencies) => quantile(latencies, share)));
  const added = (rounds: readonly (readonly number[])[], share: number) =>
    figure(at(rounds, share) - at(direct, share));
  const rows = [...runs].map(([name, each]) => {
    const latencies = each.map((run) => run.latencies);
    return [SHOWN[name] ?? name, figure(at(latencies, 0.5)), figure(at(latencies, 0.99))].concat([
      added(latencies, 0.5),
      added(latencies, 0.99),
    ]);
  });
  const straight = ["the upstream itself", figure(at(direct, 0.5)), figure(at(direct, 0.99)), "", ""];
  return table(["one connection, us", "p50", "p99", "added p50", "added p99"], [straight, ...rows]);
}

/** A flood of well-formed keys that were never minted, beside a Node server that says 401 to whatever it is asked. */
async function measureFlood(world: Contestants, folder: string, wrk: string): Promise<string> {
  const strangers = Array.from({ length: STRANGERS }, () => mintKey(randomBytes));
  const floods = [
    { name: "node:http, 401 to everything", contestant: world.floor, path: REFUSED_PATH },
    { name: "Keyplane, unknown keys", contestant: world.keyplane, path: PATH },
  ];
  const rows: string[][] = [];
  let floor = Number.NaN;
  for (const { name, contestant, path } of floods) {
    const flood = { wrk, script: await writeWrkScript(folder, `flood-${contestant.name}`, { path, keys: strangers }) };
    const { port, pid } = contestant;
    await load(flood, port, WARM_UP_SECONDS, "refusals");
    const [cpuBefore, asked] = [cpuMicroseconds(pid), await world.database.transactions()];
    const { requests, perSecond } = await load(flood, port, SECONDS, "refusals");
    const cpu = (cpuMicroseconds(pid) - cpuBefore) / requests;
    floor = Number.isNaN(floor) ? cpu : floor;
    const transactions = (await world.database.transactions()) - asked;
    rows.push([name, figure(perSecond), figure(cpu, 1), figure(cpu / floor, 2), figure(transactions)]);
  }
  return table(["a flood of bad keys", "answers/s", "CPU us/answer", "CPU : floor", "transactions meanwhile"], rows);
}

/** Stops the database's processes under load. */
async function measurePause({ keyplane, database }: Contestants, calls: LoadGenerator): Promise<string> {
  const pause = async (): Promise<void> => {
    await delay(1_000);
    database.pause();
    await delay(PAUSE_MS).finally(database.resume);
  };
  const loaded = load(calls, keyplane.port, SECONDS + PAUSE_MS / 1_000, "either");
  const [{ requests, refused }] = await Promise.all([loaded, pause()]);
  return `The database paused for ${PAUSE_MS / 1_000} s under load: ${figure(refused)} of ${figure(requests)} requests failed.`;
}
