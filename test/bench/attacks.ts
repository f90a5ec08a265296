import { setTimeout as delay } from "node:timers/promises";
import { startAttacker } from "../chaos/hostile/attacker.ts";
import { ATTACKS, isNamed } from "../chaos/hostile/attacks.ts";
import { watchHealth } from "../chaos/hostile/health.ts";
import { openServers, openUp } from "../chaos/hostile/installation.ts";
import { type Phase, type Sample, startOtherTenants } from "../chaos/hostile/other-tenants.ts";
import { type Stage, setStage } from "../chaos/hostile/stage.ts";
import { createReport } from "../oracle/report.ts";
import { figure, quantile, table } from "./table.ts";

const FORMS = { "keyplane server, two replicas": openServers, "keyplane up": openUp };
/** Parts of the names of those that are made; all where it is empty. */
const ONLY = process.env.KEYPLANE_BENCH_ATTACKS ?? "";
const ATOMS = 20_000;
/** The first is not counted: it warms up what both halves run through. */
const PAIRS = 4;
/** Of a pair's each half, and what an attack's calls that are under way may take to be through before the next half. */
const HALF_MS = 6_000;
const SETTLE_MS = 1_500;

/** Of the others' calls: what threats b82 to b87 bound. */
const WATCHED = ["gateway", "GET /atoms", "POST /atoms", "MCP"] as const;

/**
 * Measures what other tenants' calls take beside each of the hostile tenant's attacks alone: in pairs of a half without
 * it and a half with it, one after the other on the same processes, the first of which only warms up.
 */
export async function benchAttacks(): Promise<string> {
  const tables: string[] = [];
  for (const [name, open] of Object.entries(FORMS)) {
    const stage = await setStage(open, ATOMS);
    try {
      const rows: string[][] = [];
      for (const { what } of ATTACKS) {
        if (isNamed(ONLY, what)) rows.push([what, ...(await attackAlone(stage, what))]);
      }
      tables.push(table([name, ...HEADS], rows));
    } finally {
      await stage.close();
    }
  }
  return tables.join("\n\n");
}

const HEADS = [
  "failed",
  ...WATCHED.flatMap((what) => [`${what} p99, ms`, "ratio"]),
  "loop late without, ms",
  "with, ms",
  "lease's age, s",
];

async function attackAlone({ installation, keys, other }: Stage, what: string): Promise<string[]> {
  const { replicas } = installation;
  const report = createReport(0, () => {});
  const over = new AbortController();
  const others = startOtherTenants(replicas, other, report);
  const health = watchHealth(replicas, report, over.signal, () => over.abort());
  const enter = (phase: Phase): void => {
    others.enter(phase);
    health.enter(phase);
  };
  const without = ATTACKS.map((attack) => attack.what).filter((name) => name !== what);
  for (let pair = 0; pair < PAIRS; pair++) {
    const isWarmUp = pair === 0;
    enter(isWarmUp ? "after" : "before");
    await delay(HALF_MS);
    const attacker = await startAttacker();
    enter(isWarmUp ? "after" : "during");
    attacker.start({ urls: replicas.map(({ url }) => url), keys, without });
    await delay(HALF_MS);
    // What is still under way belongs to neither half.
    enter("after");
    await attacker.stop();
    await delay(SETTLE_MS);
  }
  await others.stop();
  over.abort();
  await health.done;
  const worst = [...health.worst.values()];
  return [
    figure(others.samples.filter(({ failed }) => failed).length),
    ...WATCHED.flatMap((call) => compared(others.samples.filter((sample) => sample.what === call))),
    figure(Math.max(...worst.map(({ delayMs }) => delayMs.before))),
    figure(Math.max(...worst.map(({ delayMs }) => delayMs.during))),
    figure(Math.max(...worst.map(({ age }) => age)), 2),
  ];
}

/** The p99 beside the attack, and its ratio to the one without. */
function compared(samples: readonly Sample[]): [string, string] {
  const p99 = (phase: Phase): number =>
    quantile(
      samples.filter((sample) => sample.phase === phase).map(({ ms }) => ms),
      0.99,
    );
  return [figure(p99("during"), 1), figure(p99("during") / p99("before"), 1)];
}
