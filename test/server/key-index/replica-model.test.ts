/**
 * The real replica, index, lease and confirmer on a simulated database, network and clocks, in orders that fast-check
 * chooses: I5 and I9 of docs/architecture.md hold in each of them. A failure prints the shortest order that it found.
 * The same seed explores the same orders on any machine; `KEYPLANE_SEED` chooses others.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { NIGHTLY } from "../../env/nightly.ts";
import { someMoves } from "./simulation/moves.ts";
import { simulateTimers } from "./simulation/time.ts";
import { World } from "./simulation/world.ts";

const SEED = Number(process.env.KEYPLANE_SEED ?? (NIGHTLY ? Date.now() % 2 ** 31 : 1));
const ORDERS = NIGHTLY ? 60_000 : 150;
/** Ends what hangs, also on a machine that has much else to do. */
const TIMEOUT_MS = NIGHTLY ? 3 * 3_600_000 : 3_600_000;

beforeAll(() => simulateTimers());
afterAll(() => {
  vi.unstubAllGlobals();
});

test(
  "no order of writers, notifications, faults and clocks lets a replica decide by what is revoked beyond the bound",
  async () => {
    let orders = 0;
    let steps = 0;
    const counts = { accepts: 0, confirmations: 0 };
    let world: World | undefined;
    const scheduler = fc.scheduler({
      act: async (step) => {
        await step();
        steps++;
        await world?.settle();
      },
    });
    await fc.assert(
      fc.asyncProperty(scheduler, someMoves, async (s, moves) => {
        world = new World(s);
        orders++;
        try {
          await world.play(moves);
        } finally {
          counts.accepts += world.counts.accepts;
          counts.confirmations += world.counts.confirmations;
          world.end();
        }
      }),
      { seed: SEED, numRuns: ORDERS },
    );
    expect(Math.min(counts.accepts, counts.confirmations)).toBeGreaterThan(orders);
    process.stdout.write(
      `KEYPLANE_SEED=${SEED}: ${orders} orders of ${steps} steps explored; ` +
        `${counts.accepts} times a key was let through, ${counts.confirmations} receipts\n`,
    );
  },
  TIMEOUT_MS,
);
