/** What each process says of itself while it is attacked, and what the kernel says of it. */
import { setTimeout as delay } from "node:timers/promises";
import { LEASE_MS } from "../../../domain/protocol.ts";
import { LOOP_SAMPLE_MS } from "../../../runtime/process-metrics.ts";
import { residentMegabytes } from "../../bench/processes.ts";
import type { Report } from "../../oracle/report.ts";
import type { Replica } from "./installation.ts";
import type { Phase } from "./other-tenants.ts";

const LOOK_EVERY_MS = 250;
const TIMEOUT_MS = 30_000;
/** Beyond this a process takes what others need: the run is over. */
const MAX_RESIDENT_MB = 2_000;

/** The greatest of one replica. */
export type Worst = {
  /** The lease's, in seconds. */
  age: number;
  residentMb: number;
  /** How late the event loop came, in milliseconds. */
  readonly delayMs: Record<Phase, number>;
};

export type Health = {
  /** By replica. */
  readonly worst: ReadonlyMap<string, Worst>;
  enter(phase: Phase): void;
  readonly done: Promise<void>;
};

/** @param onExcess called once a process has taken too much memory, or is gone */
export function watchHealth(
  replicas: readonly Replica[],
  report: Report,
  signal: AbortSignal,
  onExcess: () => void,
): Health {
  const unharmed = (): Worst => ({ age: 0, residentMb: 0, delayMs: { before: 0, during: 0, after: 0 } });
  const worst = new Map(replicas.map(({ name }) => [name, unharmed()]));
  let phase: Phase = "before";

  async function look({ name, adminUrl, serving: { child } }: Replica): Promise<void> {
    const violation = (rule: string, what: string) => report.violation({ rule, subject: name, what });
    const most = worst.get(name);
    if (most === undefined) return;
    if (child.exitCode !== null || child.signalCode !== null) {
      violation("alive", `the process has ended with ${child.exitCode ?? child.signalCode}`);
      return onExcess();
    }
    most.residentMb = Math.max(most.residentMb, residentMegabytes(child.pid ?? 0));
    if (most.residentMb > MAX_RESIDENT_MB) {
      violation("b84", `it takes more than ${MAX_RESIDENT_MB} MB`);
      return onExcess();
    }
    const scraped = await scrape(adminUrl).catch((error: unknown) => String(error));
    if (typeof scraped === "string") return violation("lease", `/metrics: ${scraped}`);
    most.age = Math.max(most.age, scraped.age);
    most.delayMs[phase] = Math.max(most.delayMs[phase], scraped.delayMs);
    if (scraped.age * 1_000 >= LEASE_MS) violation("lease", `its age is ${scraped.age.toFixed(1)} s`);
    if (!scraped.isCurrent) violation("lease", "the replica is not current");
  }

  async function run(replica: Replica): Promise<void> {
    while (!signal.aborted) {
      await look(replica);
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }

  return {
    worst,
    enter(next) {
      phase = next;
    },
    done: Promise.all(replicas.map(run)).then(() => {}),
  };
}

async function scrape(adminUrl: string): Promise<{ age: number; delayMs: number; isCurrent: boolean }> {
  const answer = await fetch(`${adminUrl}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await answer.text();
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  return {
    age: gauge("keyplane_index_age_seconds"),
    // Since it was asked the last time.
    delayMs: gauge("nodejs_eventloop_lag_max_seconds") * 1_000 - LOOP_SAMPLE_MS,
    isCurrent: gauge("keyplane_index_current") === 1,
  };
}
