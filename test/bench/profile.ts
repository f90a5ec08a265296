import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../env/free-port.ts";
import { KEYPLANE_COMMAND, startDatabase } from "./contestants.ts";
import { upstreamConfig, writeNginx } from "./nginx.ts";
import { cpuMicroseconds, findProgram, Processes } from "./processes.ts";
import { figure, table } from "./table.ts";
import { load, mintedKeys, PATH, PUBLIC_ID, writeWrkScript } from "./traffic.ts";

const KEYS = 2_000;
const WARM_UP_SECONDS = 5;
const SECONDS = 8;
const FLAGS = ["--cpu-prof", "--cpu-prof-interval=500"];

/** Of V8's profile of one thread what is read here; times are microseconds of the machine's monotonic clock. */
type Profile = {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { functionName: string; url: string } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly startTime: number;
};
/** A load, as it was measured: when, and what a request took of the CPU, all of it and in the kernel. */
type Loaded = { readonly from: number; readonly to: number; readonly cpu: number; readonly kernel: number };

const KERNEL = "the kernel: writes, reads, and what they wake";
/** Whose code a sample is in, by its file, else its function's name: the first that fits. */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ["garbage, collected on the serving thread", /^\(garbage collector\)/],
  [KERNEL, /^(?:write|read|shutdown)\w*$/],
  ["undici", /\/undici\/|^wasm:|^wasm-to-js|^js-to-wasm/],
  ["Fastify and its router", /\/(?:fastify|find-my-way)\//],
  ["the database's client", /\/(?:pg|pg-protocol|pg-pool|kysely)\/|\/store\//],
  ["metrics", /@prometheus-io|metrics\.ts$/],
  ["tokens and requests, counted", /\/(?:server\/gateway\/tokens|server\/usage|domain\/usage)\//],
  ["the gateway: classifying, heads, the mask, the exchange", /\/server\/gateway\//],
  [
    "authentication: headers, checksum, hash, look-up, rights",
    /\/(?:server\/(?:auth|key-index|calls)|domain)\/|Digest$/,
  ],
  ["connections, answers, ids and clocks", /\/(?:server|runtime)\//],
  ["node:http, net, streams, timers and ticks", /^node:/],
];
const REST = "Node's and V8's own";

/** Says where the CPU of a gateway call goes, and of a refusal: by samples of the thread that serves them. */
export async function benchProfile(): Promise<string> {
  const [nginx, wrk] = [findProgram("nginx"), findProgram("wrk")];
  if (nginx === undefined || wrk === undefined) return "Nothing was profiled: it takes nginx and wrk.";
  const folder = await mkdtemp(join(tmpdir(), "keyplane-profile-"));
  const processes = new Processes();
  const [keys, strangers] = [mintedKeys(KEYS), mintedKeys(KEYS)];
  const upstream = await freePort();
  const database = await startDatabase(keys, { [PUBLIC_ID]: `http://127.0.0.1:${upstream}` });
  try {
    const args = await writeNginx(folder, "upstream", upstreamConfig(upstream));
    await processes.start({ name: "upstream", command: nginx, args, port: upstream });
    const port = await freePort();
    const profiled = [...FLAGS, `--cpu-prof-dir=${join(folder, "profile")}`, KEYPLANE_COMMAND, "server"];
    const flags = ["--port", String(port), "--admin-port", "0", "--allow-private-upstreams", "127.0.0.0/8"];
    const { pid } = await processes.start({
      ...{ name: "keyplane", command: process.execPath, args: [...profiled, ...flags], port, env: database.env },
    });
    const measured = async (name: string, sent: readonly string[], expected: "2xx" | "refusals"): Promise<Loaded> => {
      const script = await writeWrkScript(folder, name, { path: PATH, keys: sent });
      await load({ wrk, script }, port, WARM_UP_SECONDS, expected);
      const [from, all, kernel] = [monotonic(), cpuMicroseconds(pid), cpuMicroseconds(pid, "kernel")];
      const { requests } = await load({ wrk, script }, port, SECONDS, expected);
      const per = (now: number, before: number): number => (now - before) / requests;
      const cpu = { cpu: per(cpuMicroseconds(pid), all), kernel: per(cpuMicroseconds(pid, "kernel"), kernel) };
      return { from, to: monotonic(), ...cpu };
    };
    const call = await measured("call", keys, "2xx");
    const refusal = await measured("refusal", strangers, "refusals");
    await processes.stop();
    const profile = await readProfile(join(folder, "profile"));
    return shown(partsOf(profile, call), partsOf(profile, refusal), call, refusal);
  } finally {
    await processes.stop();
    await database.close();
    await rm(folder, { recursive: true });
  }
}

function monotonic(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

async function readProfile(folder: string): Promise<Profile> {
  const [file = ""] = await readdir(folder);
  return JSON.parse(await readFile(join(folder, file), "utf8")) as Profile;
}

/** Microseconds of each part in one load's requests: the kernel's as the kernel counts them, the rest by samples. */
function partsOf({ nodes, samples, timeDeltas, startTime }: Profile, load: Loaded): Map<string, number> {
  const parts = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const times = new Map<string, number>();
  let [at, all] = [startTime, 0];
  for (const [i, sample] of samples.entries()) {
    const took = timeDeltas[i] ?? 0;
    at += took;
    const part = parts.get(sample);
    if (at < load.from || at > load.to || part === undefined || part === KERNEL) continue;
    times.set(part, (times.get(part) ?? 0) + took);
    all += took;
  }
  const user = load.cpu - load.kernel;
  return new Map([[KERNEL, load.kernel], ...[...times].map(([part, took]) => [part, (took / all) * user] as const)]);
}

/** Undefined for a thread that waits. */
function partOf({ functionName, url }: { readonly functionName: string; readonly url: string }): string | undefined {
  if (functionName === "(idle)") return undefined;
  return PARTS.find(([, fits]) => fits.test(url === "" ? functionName : url))?.[0] ?? REST;
}

function shown(
  ofCall: ReadonlyMap<string, number>,
  ofRefusal: ReadonlyMap<string, number>,
  call: Loaded,
  refusal: Loaded,
): string {
  const row = (part: string, ofOne: number, ofOther: number): string[] => [
    part,
    ...[figure(ofOne, 1), figure((ofOne / call.cpu) * 100)],
    ...[figure(ofOther, 1), figure((ofOther / refusal.cpu) * 100)],
  ];
  const names = [...PARTS.map(([part]) => part), REST].toSorted((a, b) => (ofCall.get(b) ?? 0) - (ofCall.get(a) ?? 0));
  return table(
    ["CPU by whose code it is", "a call, us", "%", "a refusal, us", "%"],
    [
      ...names.map((part) => row(part, ofCall.get(part) ?? 0, ofRefusal.get(part) ?? 0)),
      row("all", call.cpu, refusal.cpu),
    ],
  );
}
