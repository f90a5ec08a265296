import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { LimitCells } from "../../../server/key-index/limit-cells.ts";

test("b124: threads that charge the same cells at once admit exactly what the cells have", async () => {
  const cells = new LimitCells();
  const limits = [
    { cell: cells.take(), limit: { requestsPerMinute: 1, burst: 6_000 } },
    { cell: cells.take(), limit: { requestsPerMinute: 1, burst: 9_000 } },
    { cell: cells.take(), limit: { requestsPerMinute: 1, burst: 6_000 } },
  ];
  // Two threads have keys of their own, and one team.
  const [one, team, another] = limits;
  const [buffer] = cells.buffers;
  const file = new URL("../../../server/key-index/limit-cells.ts", import.meta.url).href;
  const script = `const { parentPort, workerData } = require("node:worker_threads");
    import(${JSON.stringify(file)}).then(({ LimitCells }) => {
      const cells = new LimitCells();
      cells.add(workerData.buffer);
      let admitted = 0;
      for (let i = 0; i < 8000; i++) {
        if (cells.chargeAll(workerData.limits, 1e12).every((verdict) => verdict.admitted)) admitted++;
      }
      parentPort.postMessage(admitted);
    });`;
  const run = (charged: unknown) => {
    const worker = new Worker(script, { eval: true, workerData: { buffer, limits: charged } });
    return once(worker, "message").then(([admitted]) => Number(admitted));
  };
  const admitted = await Promise.all([run([one, team]), run([another, team]), run([one, team])]);
  const left = cells.judgeAll(
    limits.filter((limit) => limit !== undefined),
    1e12,
  );
  const leftOf = (place: number) => {
    const verdict = left[place];
    return verdict === undefined || !verdict.admitted
      ? 0
      : verdict.remaining + (left.every((one) => one.admitted) ? 1 : 0);
  };
  const [a = 0, b = 0, c = 0] = admitted;
  // What a key has left, and what was admitted of it, is its burst: nothing that was refused was charged.
  expect([a + c + leftOf(0), a + b + c + leftOf(1), b + leftOf(2)]).toEqual([6_000, 9_000, 6_000]);
  expect(a + b + c).toBe(9_000);
});
