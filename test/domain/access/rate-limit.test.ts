import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeRate, judgeRates, type RateLimit } from "../../../domain/access/rate-limit.ts";

const SECOND = 1e9;
const limits = fc.record({
  requestsPerMinute: fc.integer({ min: 1, max: 1e6 }),
  burst: fc.integer({ min: 1, max: 50 }),
});
/** Nanoseconds between two requests: mostly none, or about what the fastest rates cost. */
const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat(200_000), fc.nat(60 * SECOND)), { minLength: 1, maxLength: 200 });

/** When each of these requests came, and which of them were admitted. */
function play(limit: RateLimit, waits: readonly number[]) {
  let now = 5 * SECOND;
  let paidAt = 0;
  return waits.map((wait) => {
    now += wait;
    const verdict = judgeRate(limit, paidAt, now);
    ({ paidAt } = verdict);
    return { now, verdict };
  });
}

test("a key that was idle may make its burst at once, and not one more", () => {
  fc.assert(
    fc.property(limits, (limit) => {
      const verdicts = play(limit, new Array(limit.burst + 1).fill(0)).map(({ verdict }) => verdict);
      expect(verdicts.map(({ admitted }) => admitted)).toEqual([...new Array(limit.burst).fill(true), false]);
      expect(verdicts.map(({ remaining }) => remaining)).toEqual([
        ...Array.from({ length: limit.burst }, (_, i) => limit.burst - 1 - i),
        0,
      ]);
    }),
  );
});

test("in no span of time are more admitted than the burst and the rate allow", () => {
  fc.assert(
    fc.property(limits, gaps, (limit, waits) => {
      const admitted = play(limit, waits).filter(({ verdict }) => verdict.admitted);
      for (const [i, from] of admitted.entries()) {
        for (const [j, to] of admitted.entries()) {
          if (j < i) continue;
          const earned = ((to.now - from.now) / (60 * SECOND)) * limit.requestsPerMinute;
          expect(j - i + 1).toBeLessThanOrEqual(limit.burst + earned + 1e-6);
        }
      }
    }),
  );
});

test("a caller that waits as long as the answer says is admitted, and no caller sooner", () => {
  fc.assert(
    fc.property(limits, gaps, (limit, waits) => {
      for (const { now, verdict } of play(limit, waits)) {
        const { retryAfter, paidAt, resetAfter, remaining, admitted } = verdict;
        expect(judgeRate(limit, paidAt, now + retryAfter).admitted).toBe(true);
        if (retryAfter > 0) expect(judgeRate(limit, paidAt, now + retryAfter - 1).admitted).toBe(false);
        expect(retryAfter > 0).toBe(remaining === 0);
        if (!admitted) expect(remaining).toBe(0);
        expect(judgeRate(limit, paidAt, now + resetAfter).remaining).toBe(limit.burst - 1);
      }
    }),
  );
});

test("a refusal costs nothing", () => {
  fc.assert(
    fc.property(limits, gaps, (limit, waits) => {
      let before = 0;
      for (const { verdict } of play(limit, waits)) {
        if (!verdict.admitted) expect(verdict.paidAt).toBe(before);
        before = verdict.paidAt;
      }
    }),
  );
});

const several = fc.array(fc.record({ limit: limits, owed: fc.nat(60 * SECOND) }), { minLength: 1, maxLength: 3 });

test("b124: a request of several limits is admitted where each admits it, and else costs none of them anything", () => {
  fc.assert(
    fc.property(several, (given) => {
      const now = 100 * SECOND;
      const states = given.map(({ limit, owed }) => ({ limit, paidAt: now + owed - 30 * SECOND }));
      const alone = states.map(({ limit, paidAt }) => judgeRate(limit, paidAt, now));
      const together = judgeRates(states, now);
      expect(together.map(({ admitted }) => admitted)).toEqual(alone.map(({ admitted }) => admitted));
      const isAdmitted = alone.every(({ admitted }) => admitted);
      if (isAdmitted) expect(together).toEqual(alone);
      else expect(together.map(({ paidAt }) => paidAt)).toEqual(states.map(({ paidAt }) => paidAt));
      // What is said to be left is what the next requests get.
      for (const [i, { remaining, paidAt }] of together.entries()) {
        const limit = states[i]?.limit ?? { requestsPerMinute: 1, burst: 1 };
        let state = paidAt;
        for (let more = 0; more < remaining; more++) {
          const verdict = judgeRate(limit, state, now);
          expect(verdict.admitted).toBe(true);
          state = verdict.paidAt;
        }
        expect(judgeRate(limit, state, now).admitted).toBe(false);
      }
    }),
  );
});
