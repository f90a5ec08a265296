import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  LEASE_SECONDS,
  type Moment,
  respectLeft,
  TERM_MS,
  termLeft,
  untilLook,
  untilRenewal,
} from "../../../../controller/cluster/kubernetes/lease-timing.ts";

const at = (steady: number, wall = steady): Moment => ({ wall, steady });
const START = at(0);

/** How long a leader leads whose writes are answered after so many milliseconds each, in turn. */
function ledFor([first = 0, ...later]: readonly number[]): number | "to the end" {
  let [sent, now] = [START, first];
  for (const takes of later) {
    now += untilRenewal(sent, at(now));
    const left = termLeft(sent, at(now));
    if (left < takes) return now + left;
    sent = at(now);
    now += takes;
  }
  return "to the end";
}

describe("c67: a leader that renews by its answers", () => {
  it.each([
    ["of a moment", [2, 2, 2, 2, 2]],
    ["of 1 to 3 s", [1_000, 3_000, 2_000, 3_000, 1_000]],
    ["of 5 s", [5_000, 5_000, 5_000, 5_000, 5_000]],
    ["of just under half a term", [6_499, 6_499, 6_499, 6_499]],
    ["of a moment, but for one", [2, 10_900, 2, 2]],
  ])("%s leads on", (_what, answers) => {
    expect(ledFor(answers)).toBe("to the end");
  });

  it("leads on whatever they take, where two in a row fit into its term", () => {
    const fitting = (answers: readonly number[], part: number) => [
      ...answers,
      Math.floor(part * (TERM_MS - Math.max(answers.at(-1) ?? 0, 2_000))),
    ];
    const parts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 });
    fc.assert(fc.property(parts, (all) => ledFor(all.reduce(fitting, [])) === "to the end"));
  });

  it("ends as its term does where they do not", () => {
    expect(ledFor([7_000, 7_000])).toBe(TERM_MS);
    expect(ledFor([2, 2, 12_000])).toBe(2_000 + TERM_MS);
  });

  it("sends the next write 2 s after the last, or at once after one that took longer", () => {
    expect(untilRenewal(START, at(2))).toBe(1_998);
    expect(untilRenewal(START, at(2_000))).toBe(0);
    expect(untilRenewal(START, at(5_000))).toBe(0);
  });
});

describe("c22: a term", () => {
  it("ends by the clock that has gone further, so that neither a suspended machine nor a clock that is set leads on", () => {
    expect(termLeft(START, at(3_000))).toBe(10_000);
    expect(termLeft(START, at(3_000, 20_000))).toBe(0);
    expect(termLeft(START, at(13_000, 3_000))).toBe(0);
    expect(termLeft(START, at(3_000, -3_600_000))).toBe(10_000);
  });

  it("is over, by some percent, before the lease may be taken", () => {
    expect(respectLeft(LEASE_SECONDS, TERM_MS * 1.07)).toBeGreaterThan(0);
  });
});

describe("c67: one who waits for another's lease", () => {
  it("takes what was last renewed up to a look before it was seen no later than the lease's own time after that", () => {
    const looks = untilLook(respectLeft(LEASE_SECONDS, 0), 0);
    expect(looks + respectLeft(LEASE_SECONDS, 0)).toBe(LEASE_SECONDS * 1_000);
  });

  it("looks again as it ends, and not a look later", () => {
    expect(untilLook(respectLeft(LEASE_SECONDS, 13_600), 0)).toBe(400);
    expect(untilLook(respectLeft(LEASE_SECONDS, 14_000), 0)).toBe(1_000);
  });

  it("looks at a time of its own", () => {
    expect(untilLook(14_000, 0.5)).toBe(900);
    expect(untilLook(14_000, 0.999)).toBeGreaterThan(800);
  });
});
