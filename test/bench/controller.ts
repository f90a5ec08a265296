import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { ControllerProcess } from "../env/controller.ts";
import { KubernetesMissingError } from "../env/kubernetes/binaries.ts";
import { until } from "../env/until.ts";
import type { AuditedRequest } from "./audit-log.ts";
import { type ControllerWorld, perSecond, residentMegabytes, startControllerWorld } from "./controller-world.ts";
import { cpuMicroseconds } from "./processes.ts";
import { figure, table } from "./table.ts";

const KEYS = Number(process.env.KEYPLANE_BENCH_KEYS ?? 1_000);
/** As `--cpu-prof`. */
const NODE_FLAGS = (process.env.KEYPLANE_BENCH_NODE_FLAGS ?? "").split(" ").filter((flag) => flag !== "");
const LOOP_DELAY = join(import.meta.dirname, "loop-delay.ts");
/** As many as a rate needs. */
const PLAIN_KEYS = Math.min(KEYS, 2_000);
const HEALED = 100;
const SETTLED_SECONDS = 30;
/** Until what a start or a birth has left behind is done, the collection of its garbage too. Milliseconds. */
const REST = 15_000;
const LONG = { timeoutMs: 300_000 };

/** Measures the controller beside a plain generator of its writes, in one run. */
export async function benchController(): Promise<string> {
  let world: ControllerWorld;
  try {
    world = await startControllerWorld(KEYS, NODE_FLAGS);
  } catch (error) {
    if (!(error instanceof KubernetesMissingError)) throw error;
    return `The controller was not measured: ${error.message}`;
  }
  try {
    return await measure(world);
  } finally {
    await world.end();
  }
}

async function measure(world: ControllerWorld): Promise<string> {
  await world.declare("key", KEYS);
  await world.requests();
  const first = await world.startController();
  const births = await measureBirths(world, first);
  report(`${figure(births.rate)} new keys a second, ${figure(births.cpuMs, 2)} ms of CPU each`);
  const settled = await measureRest(world, first);
  report(`${figure(settled.resident)} MB, ${figure(settled.cpuShare * 100, 2)} % of a core at rest`);
  await first.stop();
  await world.requests();
  // Not in the first, which it would wake a thousand times a second.
  const second = await world.startController("--import", LOOP_DELAY);
  const restart = await measureRestart(world, second);
  report(`started again: ${byKind(restart.requests)}; late by ${restart.late} ms (p99.9)`);
  const healed = await measureHealing(world);
  const ends = await measureEnds(world);
  report(`${figure(KEYS)} keys refused in ${figure(ends.refused, 1)} s, gone in ${figure(ends.gone, 1)} s`);
  await second.stop();

  report(`healed in ${figure(healed, 2)} s`);
  await world.declare("plain", PLAIN_KEYS);
  await world.requests();
  await world.generate("plain");
  const plain = await world.requests();
  const plainRate = perSecond(plain);

  const perKey = (requests: readonly AuditedRequest[], keys = KEYS) => figure(requests.length / keys, 2);
  return [
    table(
      [`${figure(KEYS)} new keys`, "keys/s", "rate : plain", "CPU ms/key", "API writes/key", "API reads/key"],
      [
        ["plain generator", figure(plainRate), "1.00", "", perKey(plain.filter(isWrite), PLAIN_KEYS), ""],
        [
          "keyplane controller",
          figure(births.rate),
          figure(births.rate / plainRate, 2),
          figure(births.cpuMs, 2),
          perKey(births.requests.filter(isWrite)),
          perKey(births.requests.filter(isRead)),
        ],
      ],
    ),
    table(
      [`keyplane controller, ${figure(KEYS)} settled keys`, ""],
      [
        ["resident, MB", figure(settled.resident)],
        [`CPU over ${SETTLED_SECONDS} s, % of a core`, figure(settled.cpuShare * 100, 2)],
        ["requests meanwhile", byKind(settled.requests)],
        ["restart: requests until every key was looked at", byKind(restart.requests)],
        ["restart: event loop late by, ms, p99.9", figure(restart.late, 1)],
        ["restart: event loop late by, ms, at most", figure(restart.latest, 1)],
        [`seconds until ${HEALED} deleted Secrets are back`, figure(healed, 2)],
        ["all keys deleted at once: seconds until none works", figure(ends.refused, 1)],
        ["all keys deleted at once: seconds until they are gone", figure(ends.gone, 1)],
      ],
    ),
  ].join("\n\n");
}

async function measureBirths(world: ControllerWorld, { child: { pid = 0 } }: ControllerProcess) {
  const before = cpuMicroseconds(pid);
  await world.untilReady();
  const cpuMs = (cpuMicroseconds(pid) - before) / KEYS / 1_000;
  const requests = await world.requests();
  return { cpuMs, requests, rate: perSecond(requests) };
}

async function measureRest(world: ControllerWorld, { child: { pid = 0 } }: ControllerProcess) {
  await delay(REST);
  await world.requests();
  const before = cpuMicroseconds(pid);
  await delay(SETTLED_SECONDS * 1_000);
  const cpuShare = (cpuMicroseconds(pid) - before) / (SETTLED_SECONDS * 1e6);
  return { cpuShare, requests: await world.requests(), resident: residentMegabytes(pid) };
}

async function measureRestart(world: ControllerWorld, { child, url }: ControllerProcess) {
  const looks = async () => {
    const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
    const counts = lines.filter((line) => line.startsWith("controller_runtime_reconcile_total{"));
    return counts.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  };
  // From here on: how late the loading of modules makes it is not what is asked.
  await askHowLate(child);
  await until("every key was looked at", async () => (await looks()) > KEYS, LONG);
  const requests = await world.requests();
  const [late, latest] = await askHowLate(child);
  return { requests, late, latest };
}

/** What loop-delay.ts prints, among what else the controller does: since it was last asked, p99.9 and the longest. */
async function askHowLate(child: ControllerProcess["child"]): Promise<[late: number, latest: number]> {
  if (child.stdout === null) throw new Error("the controller has no output");
  const printed = createInterface({ input: child.stdout });
  child.kill("SIGUSR2");
  for await (const line of printed) {
    const [, late, latest] = /^loop (\S+) (\S+)$/.exec(line) ?? [];
    if (late !== undefined && latest !== undefined) return [Number(late), Number(latest)];
  }
  throw new Error("the controller ended before it said how late its event loop was");
}

/** Seconds from the first deletion to the last new Secret. */
async function measureHealing(world: ControllerWorld): Promise<number> {
  await delay(REST);
  await world.requests();
  const count = Math.min(HEALED, KEYS);
  const began = Date.now();
  await world.deleteSecrets("key", count);
  const created: AuditedRequest[] = [];
  const isHealed = async () => {
    created.push(...(await world.requests()).filter(({ what }) => what === "create secrets"));
    return created.length >= count;
  };
  await until("the Secrets are back", isHealed, LONG);
  return (Math.max(...created.map(({ to }) => to)) - began) / 1_000;
}

/** Seconds from the first deletion until every key is revoked, and until their declarations are gone. */
async function measureEnds(world: ControllerWorld): Promise<{ refused: number; gone: number }> {
  await delay(REST);
  const began = Date.now();
  const deleted = world.deleteKeys();
  await world.untilRevoked();
  const refused = (Date.now() - began) / 1_000;
  await deleted;
  await world.untilGone();
  return { refused, gone: (Date.now() - began) / 1_000 };
}

/** Progress, beside the results on standard output. */
function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);
const OWN_BUSINESS: ReadonlySet<string> = new Set(["leases", "namespaces"]);

const isWrite = ({ verb, resource }: AuditedRequest) => WRITES.has(verb) && !OWN_BUSINESS.has(resource);
const isRead = ({ verb, resource }: AuditedRequest) => verb === "get" && !OWN_BUSINESS.has(resource);

/** As `list 25, watch 25`; the leader's own Lease and its look at the cluster's name left out. */
function byKind(requests: readonly AuditedRequest[]): string {
  const counts = Object.groupBy(
    requests.filter(({ resource }) => !OWN_BUSINESS.has(resource)),
    ({ verb, resource }) => (verb === "list" || verb === "watch" ? verb : `${verb} ${resource}`),
  );
  const parts = Object.entries(counts).map(([what, all]) => `${what} ${all?.length ?? 0}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}
