/** One run: other tenants at rest, then beside a hostile one that does everything at once, then at rest again. */
import { setTimeout as delay } from "node:timers/promises";
import { createReport, type Violation } from "../../oracle/report.ts";
import type { Attacker } from "./attacker.ts";
import type { Outcomes } from "./attacker-process.ts";
import { watchHealth } from "./health.ts";
import { startHeldBack } from "./held-back.ts";
import type { Furniture, Installation } from "./installation.ts";
import { startOtherTenants } from "./other-tenants.ts";
import { startRevocations } from "./revocations.ts";
import { setStage } from "./stage.ts";
import { summarize } from "./summary.ts";

export type HostileRun = {
  readonly open: (furniture: Furniture) => Promise<Installation>;
  readonly atoms: number;
  /** How long other tenants are alone, before and after; and how long the attacks last. */
  readonly restMs: number;
  readonly attackMs: number;
  /** Attacks that are left out, by what they are called. */
  readonly without?: readonly string[];
  readonly out: (line: string) => void;
};

export type HostileResult = {
  readonly violations: readonly Violation[];
  readonly revocations: number;
  readonly heldBack: number;
};

export async function runHostileTenant({
  open,
  atoms,
  restMs,
  attackMs,
  without = [],
  out,
}: HostileRun): Promise<HostileResult> {
  // What came before a violation is no story here: everything happens at once.
  const report = createReport(0, (line) => /^ {2}(of it|before): /.test(line) || out(line));
  const { installation, attacker, upstream, keys, other, close } = await setStage(open, atoms);
  const over = new AbortController();
  try {
    const { replicas } = installation;
    const attackOver = new AbortController();
    const others = startOtherTenants(replicas, other, report);
    const health = watchHealth(replicas, report, over.signal, () => attackOver.abort());
    const probing = AbortSignal.any([over.signal, attackOver.signal]);
    const revocations = startRevocations(installation, report, probing);
    await delay(restMs);

    report.log("the attacks begin");
    others.enter("during");
    health.enter("during");
    attacker.start({ urls: replicas.map(({ url }) => url), keys, without });
    const held = startHeldBack({ installation, upstream, reader: keys.reader, report }, probing);
    await delay(attackMs, undefined, { signal: attackOver.signal }).catch(() => {});
    const outcomes = await stopped(attacker);
    report.log("the attacks are over");
    // What is still asked about keys that were revoked meanwhile goes on beside the others at rest.
    attackOver.abort();
    others.enter("after");
    health.enter("after");
    await delay(restMs);

    await Promise.all([others.stop(), held.done, revocations.done]);
    over.abort();
    await health.done;
    for (const { name, serving } of replicas) {
      const errors = serving.lines.filter((line) => /"level":(50|60)/.test(line));
      if (errors.length === 0) continue;
      const what = `${errors.length} lines, the first: ${errors[0]?.slice(0, 300)}`;
      report.violation({ rule: "log", subject: `errors of ${name}`, what });
    }
    const { lateAccepts } = revocations;
    out(summarize({ outcomes, held: held.outcomes, samples: others.samples, worst: health.worst, lateAccepts }));
    const heldBack = [...held.outcomes.values()].reduce((sum, count) => sum + count, 0);
    return { violations: report.violations, revocations: lateAccepts.length, heldBack };
  } finally {
    over.abort();
    await close();
  }
}

async function stopped(attacker: Attacker): Promise<Outcomes> {
  const kill = setTimeout(attacker.kill, 20_000);
  const outcomes = await attacker.stop();
  clearTimeout(kill);
  return outcomes;
}
