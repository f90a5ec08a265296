/** A run as a page: what struck, what people and clients did, what failed by what, and what went wrong. */

import { figure, table } from "../../bench/table.ts";
import type { Violation } from "../../oracle/report.ts";
import { type Calls, causeOf, type Struck } from "./calls.ts";

export type Run = {
  readonly seed: number;
  readonly minutes: number;
  readonly struck: readonly Struck[];
  readonly calls: Calls;
  /** How often each thing was done, of each of the people at kubectl. */
  readonly acts: readonly ReadonlyMap<string, number>[];
  /** To every key, by status. */
  readonly answers: ReadonlyMap<number, number>;
  readonly amounts: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
};

export function summarize(run: Run): string {
  const { seed, minutes, answers, amounts, violations } = run;
  const title = `An installation for ${minutes} minutes by seed ${seed}: ${counted(violations.length, "violation")}`;
  const statuses = [...answers].sort(([a], [b]) => a - b).map(([status, count]) => [String(status), figure(count)]);
  return [
    title,
    table(["fault", "struck", "longest until all had recovered"], faultRows(run)),
    table(["calls of", "succeeded", "failed"], callRows(run)),
    table(["failed calls, with what, by what", "times"], failureRows(run)),
    table(["by people at kubectl", "times"], actRows(run)),
    table(["answers to every key", "times"], statuses),
    table(
      ["there were", ""],
      Object.entries(amounts).map(([what, count]) => [what, figure(count)]),
    ),
    ...violations.map(({ rule, subject, what }) => `VIOLATION of ${rule}: ${subject}: ${what}`),
  ].join("\n\n");
}

const counted = (count: number, what: string) => (count === 1 ? `1 ${what}` : `${count === 0 ? "no" : count} ${what}s`);

function faultRows({ struck }: Run): string[][] {
  return [...Map.groupBy(struck, ({ fault }) => fault)]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([fault, times]) => {
      const longestMs = Math.max(...times.map(({ from, to }) => to - from));
      return [fault, figure(times.length), `${figure(longestMs / 1_000, 1)} s`];
    });
}

function callRows({ calls: { succeeded, failed } }: Run): string[][] {
  const callers = new Set([...succeeded.keys(), ...failed.map(({ who }) => who)]);
  return [...callers].sort().map((caller) => {
    const failures = failed.filter(({ who }) => who === caller).length;
    return [caller, figure(succeeded.get(caller) ?? 0), figure(failures)];
  });
}

function failureRows({ calls: { failed }, struck }: Run): string[][] {
  const titles = failed.map((call) => `${call.who}, ${call.failure}, ${causeOf(call, struck) ?? "NOTHING KNOWN"}`);
  return [...Map.groupBy(titles, (title) => title)].sort().map(([title, same]) => [title, figure(same.length)]);
}

function actRows({ acts }: Run): string[][] {
  const sums = new Map<string, number>();
  for (const [act, count] of acts.flatMap((counts) => [...counts])) sums.set(act, (sums.get(act) ?? 0) + count);
  return [...sums].sort(([a], [b]) => a.localeCompare(b)).map(([act, count]) => [act, figure(count)]);
}
