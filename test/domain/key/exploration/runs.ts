import { describe, expect, it } from "vitest";
import { NIGHTLY } from "../../../env/nightly.ts";
import { type Budget, explore, type Rests } from "./explore.ts";
import { violatedBetween, violatedIn } from "./invariants.ts";
import type { World } from "./world.ts";

export const NONE: Budget = { faults: 0, edits: 0, changes: 0, uses: 0 };

export type Run = { readonly name: string; readonly from: World; readonly budget: Budget };

/**
 * Every history from each of these worlds, within its budget.
 *
 * @param large takes too long for every run of the tests: nightly alone
 */
export function exploreEach(subject: string, runs: readonly Run[], large: readonly Run[]): void {
  describe(`every history of ${subject} keeps the invariants I1 to I8`, () => {
    for (const { name, from, budget } of [...runs, ...(NIGHTLY ? large : [])]) {
      it(name, { timeout: 3_600_000 }, () => {
        const rests: Rests = new Map();
        const state = (world: World) => violatedIn(world, rests);
        const found = explore(from, budget, { state, transition: violatedBetween });
        console.log(`explored ${name}: ${found.states} states, ${found.transitions} transitions`);
        expect(found.violation).toBeNull();
        expect(found.states).toBeGreaterThan(1000);
      });
    }
  });
}
