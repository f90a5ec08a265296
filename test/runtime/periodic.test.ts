import { once } from "node:events";
import { expect, it } from "vitest";
import { runPeriodically, startPeriodically } from "../../runtime/periodic.ts";
import { until } from "../env/until.ts";

const HOUR = 3_600_000;

const failed = (error: unknown) => expect.unreachable(String(error));

it("a task that is due at once runs now, and not again before its interval; one that is not waits for it", async () => {
  const ran: string[] = [];
  const start = (what: string, task: { intervalMs: number; isDueAtOnce?: boolean; isSpread?: boolean }) =>
    startPeriodically({ ...task, run: async () => void ran.push(what), onFailure: failed });
  const ends = [
    start("at once", { intervalMs: HOUR, isDueAtOnce: true }),
    start("later", { intervalMs: HOUR }),
    start("later and spread", { intervalMs: HOUR, isSpread: true }),
    start("often", { intervalMs: 1 }),
    start("often and spread", { intervalMs: 1, isSpread: true }),
  ];
  const often = ["often", "often and spread"];
  await until("those that are often due have run ten times", () =>
    often.every((wanted) => ran.filter((what) => what === wanted).length >= 10),
  );
  expect(ran.filter((what) => !often.includes(what))).toEqual(["at once"]);
  await Promise.all(ends.map((end) => end()));
});

it("a task that fails is reported, and comes round again", async () => {
  const stop = new AbortController();
  const failures: unknown[] = [];
  let runs = 0;
  const run = async () => {
    runs++;
    throw new Error("no");
  };
  const running = runPeriodically({ intervalMs: 1, run, onFailure: (error) => failures.push(error) }, stop.signal);
  await until("it has come round", () => runs > 2);
  stop.abort();
  await running;
  expect(failures).toEqual(Array.from({ length: runs }, () => new Error("no")));
});

it("a task ends with the run that is under way, whose failure is not reported then", async () => {
  let begun = false;
  const end = startPeriodically({
    ...{ intervalMs: HOUR, isDueAtOnce: true, onFailure: failed },
    async run(signal) {
      begun = true;
      await once(signal, "abort");
      throw new Error("broken off");
    },
  });
  await until("it has begun", () => begun);
  await end();
});
