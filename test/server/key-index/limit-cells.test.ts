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
