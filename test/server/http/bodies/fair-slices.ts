import { expect } from "vitest";
import { BodyFault } from "../../../../server/http/bodies/json-scanner.ts";
import { SLICE_STEPS } from "../../../../server/http/bodies/slices.ts";
import { leastOfFive, threadCpuTimeOf } from "../../../env/cpu-time.ts";

/** However small the slices are, a body takes at most so many steps for each of its bytes. */
const STEPS_PER_BYTE = 16;
const MAX_SLICE_CPU_MS = 50;

/** Runs a scan of a body to its end or to a fault of the body: in few slices, none of which holds the thread for long. */
export async function expectFairSlices(body: Buffer, open: () => { run(steps: number): boolean }): Promise<void> {
  const longest = await leastOfFive(MAX_SLICE_CPU_MS, () => {
    const scan = open();
    let [longest, isDone] = [0, false];
    for (let slices = 1; !isDone; slices++) {
      expect(slices).toBeLessThanOrEqual(1 + (STEPS_PER_BYTE * body.length) / SLICE_STEPS);
      const took = threadCpuTimeOf(() => {
        try {
          isDone = scan.run(SLICE_STEPS);
        } catch (error) {
          expect(error).toBeInstanceOf(BodyFault);
          isDone = true;
        }
      });
      longest = Math.max(longest, took);
    }
    return longest;
  });
  expect(longest).toBeLessThan(MAX_SLICE_CPU_MS);
}
