import fc from "fast-check";
import { expect, it } from "vitest";
import { backoffMs } from "../../../controller/queue/backoff.ts";

it("c19: the back-off is longer after each failure, and never more than 30 s", () => {
  const longest = [0, 1, 2, 3, 20, 1_000].map((failed) => backoffMs(250, failed, 0));
  expect(longest).toEqual([250, 500, 1_000, 2_000, 30_000, 30_000]);
});

it("c19: the back-off spreads retries out, within half of the wait and never beyond it", () => {
  fc.assert(
    fc.property(fc.nat({ max: 5_000 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (failed, random) => {
      const wait = backoffMs(5, failed, random);
      const longest = backoffMs(5, failed, 0);
      return wait <= longest && wait >= longest / 2 && longest <= 30_000 && longest >= 5;
    }),
  );
});
