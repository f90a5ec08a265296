import fc from "fast-check";
import { expect, test } from "vitest";
import { cellState, drawRequests, requestCost } from "../../../domain/access/limit-draw.ts";

const NOW = 1_000_000_000_000;
const limits = fc.record({
  requestsPerMinute: fc.integer({ min: 1, max: 1_000_000 }),
  burst: fc.integer({ min: 1, max: 10_000 }),
});
const draws = fc.array(fc.record({ after: fc.nat(120_000_000), wanted: fc.integer({ min: 1, max: 500 }) }), {
  maxLength: 50,
});

test("b123: draws get no more, in any time, than the burst and what the rate adds", () => {
  fc.assert(
    fc.property(limits, draws, (limit, asked) => {
      let [now, paidAt] = [NOW, 0];
      const given = asked.map(({ after, wanted }) => {
        now += after;
        const drawn = drawRequests(limit, paidAt, now, wanted);
        expect(drawn.granted).toBeLessThanOrEqual(wanted);
        ({ paidAt } = drawn);
        return drawn;
      });
      for (const [i, from] of given.entries()) {
        let sum = 0;
        for (const to of given.slice(i)) {
          sum += to.granted;
          expect(sum).toBeLessThanOrEqual(limit.burst + (to.now - from.now) / requestCost(limit));
        }
      }
    }),
  );
});

test("b123: what is given back can be drawn again", () => {
  fc.assert(
    fc.property(limits, (limit) => {
      const all = drawRequests(limit, 0, NOW, limit.burst);
      const back = drawRequests(limit, all.paidAt, NOW, -limit.burst);
      expect(drawRequests(limit, back.paidAt, NOW, limit.burst + 1).granted).toBe(limit.burst);
    }),
  );
});

test("b123: a cell says how much is left, and when one more and all of it is there", () => {
  const limit = { requestsPerMinute: 60, burst: 3 };
  const { paidAt } = drawRequests(limit, 0, NOW, 3);
  expect(cellState(limit, 0, NOW)).toEqual({ remaining: 3, retryAfter: 0, resetAfter: 0 });
  expect(cellState(limit, paidAt, NOW)).toEqual({ remaining: 0, retryAfter: 1_000_000, resetAfter: 3_000_000 });
  expect(cellState(limit, paidAt, NOW + 1_000_000)).toMatchObject({ remaining: 1, retryAfter: 0 });
});

test("b123: a cell owes a burst at most, by whatever clock or limit it was drawn from before", () => {
  const limit = { requestsPerMinute: 60, burst: 3 };
  expect(cellState(limit, NOW + 3_600_000_000, NOW)).toMatchObject({ remaining: 0, retryAfter: 1_000_000 });
});
