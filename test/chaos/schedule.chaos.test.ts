import { describe, expect, it } from "vitest";
import { FAULTS } from "./faults.ts";
import { scheduleFaults, scheduleMoves } from "./schedule.ts";

describe("a seed", () => {
  it("has each fault strike once before any strikes again, as far as what it breaks is whole", () => {
    const names = scheduleFaults(7, 600_000).map(({ name }) => name);
    const first = new Set(names.slice(0, Object.keys(FAULTS).length));
    expect(new Set(names).size).toBe(Object.keys(FAULTS).length);
    expect(first.size).toBeGreaterThan(0.8 * Object.keys(FAULTS).length);
  });

  it("chooses the same moves and faults again, and another chooses others", () => {
    for (const schedule of [scheduleMoves, scheduleFaults]) {
      expect(schedule(7, 120_000)).toEqual(schedule(7, 120_000));
      expect(schedule(7, 120_000)).not.toEqual(schedule(8, 120_000));
      expect(schedule(7, 120_000).length).toBeGreaterThan(10);
    }
  });
});
