/** What a run says at its end: how often what came of each attack, and how long the others' calls took. */
import { figure, quantile, table } from "../../bench/table.ts";
import type { Outcomes } from "./attacker-process.ts";
import type { Health } from "./health.ts";
import type { HeldBack } from "./held-back.ts";
import type { Phase, Sample } from "./other-tenants.ts";
import type { Revocations } from "./revocations.ts";

const PHASES: readonly Phase[] = ["before", "during", "after"];

export type Summary = {
  readonly outcomes: Outcomes;
  readonly held: HeldBack["outcomes"];
  readonly samples: readonly Sample[];
  readonly worst: Health["worst"];
  readonly lateAccepts: Revocations["lateAccepts"];
};

export function summarize({ outcomes, held, samples, worst, lateAccepts }: Summary): string {
  const attacks = outcomes.map(([what, counts]) => {
    const each = Object.entries(counts).map(([outcome, count]) => `${outcome}: ${figure(count)}`);
    return `${what}: ${each.join(", ")}`;
  });
  const latest = figure(Math.max(0, ...lateAccepts));
  return [
    attacks.join("\n"),
    table(
      ["held back", "calls"],
      [...held].map(([what, count]) => [what, figure(count)]),
    ),
    othersTable(samples),
    table(
      ["replica", "lease's age, s", "resident, MB", ...PHASES.map((phase) => `event loop late ${phase}, ms`)],
      [...worst].map(([name, { age, residentMb, delayMs }]) => [
        name,
        figure(age, 2),
        figure(residentMb),
        ...PHASES.map((phase) => figure(delayMs[phase], 1)),
      ]),
    ),
    `${lateAccepts.length} revocations; the last accept was sent at most ${latest} ms after the commit was known`,
  ].join("\n\n");
}

function othersTable(samples: readonly Sample[]): string {
  const rows = [...new Set(samples.map(({ what }) => what))].map((what) => [
    what,
    ...PHASES.flatMap((phase) => {
      const of = samples.filter((sample) => sample.what === what && sample.phase === phase);
      const ms = of.map((sample) => sample.ms);
      return [
        figure(of.length),
        figure(of.filter(({ failed }) => failed).length),
        figure(quantile(ms, 0.5), 1),
        figure(quantile(ms, 0.99), 1),
      ];
    }),
  ]);
  const heads = PHASES.flatMap((phase) => [phase, "failed", "p50, ms", "p99, ms"]);
  return table(["others", ...heads], rows);
}
