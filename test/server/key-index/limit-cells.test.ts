import fc from "fast-check";
import { expect, test } from "vitest";
import { LimitCells } from "../../../server/key-index/limit-cells.ts";

const LIMIT = { requestsPerMinute: 60, burst: 2 };
const YEAR = 365 * 86_400;

test("a burst is admitted, then no more, and one more when it is paid, at whatever time of the system's clock", () => {
  const time = fc.record({ seconds: fc.nat({ max: YEAR }), nanoseconds: fc.nat({ max: 999_999_999 }) });
  fc.assert(
    fc.property(time, ({ seconds, nanoseconds }) => {
      // As the clock counts: in milliseconds, whose fractions are not whole nanoseconds.
      const now = (seconds * 1e3 + nanoseconds / 1e6) * 1e6;
      const cells = new LimitCells();
      const cell = cells.take();
      const admitted = [0, 0, 0, 1.001e9].map((later) => cells.charge(cell, LIMIT, now + later).admitted);
      expect(admitted).toEqual([true, true, false, true]);
    }),
    { numRuns: 2_000, examples: [[{ seconds: 2193, nanoseconds: 447_299_830 }]] },
  );
});

const BOTH = [
  { requestsPerMinute: 60, burst: 2 },
  { requestsPerMinute: 60, burst: 3 },
] as const;

test("b124: cells that are charged together are charged all or none, and take back what was charged", () => {
  const cells = new LimitCells();
  const [key, team] = BOTH.map((limit) => ({ cell: cells.take(), limit }));
  if (key === undefined || team === undefined) throw new Error("there are two");
  const left = () => cells.judgeAll([key, team], 1).map(({ admitted, remaining }) => (admitted ? remaining + 1 : 0));
  const charge = () => cells.chargeAll([key, team], 1).map(({ admitted }) => admitted);
  expect([charge(), charge()]).toEqual([
    [true, true],
    [true, true],
  ]);
  expect([charge(), charge()]).toEqual([
    [false, true],
    [false, true],
  ]);
  // The team has one left for another key.
  expect(cells.chargeAll([team], 1)[0]?.admitted).toBe(true);
  expect(charge()).toEqual([false, false]);
  for (const { cell } of [key, team]) cells.refund(cell, 1e9, 1);
  expect([left(), charge(), charge()]).toEqual([
    [1, 1],
    [true, true],
    [false, false],
  ]);
});

test("b124: a limit without a cell admits, and counts nothing", () => {
  const cells = new LimitCells();
  const none = { cell: 0, limit: BOTH[0] };
  for (let time = 0; time < 5; time++) expect(cells.chargeAll([none], 0)[0]?.admitted).toBe(true);
  cells.refund(none.cell, 1e9, 0);
  expect(cells.bytes).toBe(0);
});
