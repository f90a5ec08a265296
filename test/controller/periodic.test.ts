import { expect, it } from "vitest";
import { runPeriodically } from "../../controller/periodic.ts";
import { until } from "../env/until.ts";

const HOUR = 3_600_000;

it("a task that is due at once runs now, and not again before its interval; one that is not waits for it", async () => {
  const stop = new AbortController();
  const ran: string[] = [];
  const start = (what: string, isDueAtOnce: boolean, intervalMs: number) =>
    runPeriodically({ what, intervalMs, isDueAtOnce, run: async () => void ran.push(what) }, () => {}, stop.signal);
  const all = [start("at once", true, HOUR), start("later", false, HOUR), start("often", false, 1)];
  await until("one that is often due has run ten times", () => ran.filter((what) => what === "often").length >= 10);
  expect(ran.filter((what) => what !== "often")).toEqual(["at once"]);
  stop.abort();
  await Promise.all(all);
});

it("a task that fails is logged, and comes round again", async () => {
  const stop = new AbortController();
  const lines: string[] = [];
  let runs = 0;
  const run = async () => {
    runs++;
    throw new Error("no");
  };
  const running = runPeriodically(
    { what: "failing", intervalMs: 1, run },
    (_level, line) => lines.push(line),
    stop.signal,
  );
  await until("it has come round", () => runs > 2);
  stop.abort();
  await running;
  expect(lines).toEqual(Array.from({ length: runs }, () => "while failing: no"));
});
