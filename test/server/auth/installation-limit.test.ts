import { afterAll, beforeAll, expect, test } from "vitest";
import type { RoutePlugin } from "../../../server/app.ts";
import { InstallationLimits } from "../../../server/limits/installation-limits.ts";
import { until } from "../../env/until.ts";
import { type Harness, startHarness } from "../harness.ts";
import { cellsInMemory } from "../limits/cells.ts";

const answered = Promise.withResolvers<void>();
const atoms: RoutePlugin = (app) => {
  app.get("/atoms", { config: { operation: "atoms.list" } }, async () => {
    await answered.promise;
    return { items: [] };
  });
};

/** The cell answers once it is let. */
let held: Promise<void> = Promise.resolve();
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({
    mounts: [{ at: "", routes: atoms }],
    limits({ monotonic }) {
      const cells = cellsInMemory({ now: monotonic() });
      const draw: typeof cells.draw = async (draws) => {
        await held;
        return cells.draw(draws);
      };
      // Every call is asked for: there are more threads than the limit has requests a second.
      return new InstallationLimits({ draw, threads: () => 4, monotonic });
    },
  });
});
afterAll(async () => {
  answered.resolve();
  await harness.close();
});

test("b123: calls that waited for their limit together are no more under way than the key may have", async () => {
  const rateLimit = { requestsPerMinute: 60, burst: 60, scope: "Installation" } as const;
  const headers = { authorization: `Bearer ${harness.addKey({ rateLimit, concurrent: 2 })}` };
  const call = () => fetch(`${harness.url}/atoms`, { headers });
  const open = call();
  await until("one is under way", () => harness.counted.length === 1);
  const cell = Promise.withResolvers<void>();
  held = cell.promise;
  const calls = Array.from({ length: 10 }, call);
  // All but two are refused before the cell has answered. A cell that answers late has the thread admit by itself.
  const refused: Response[] = [];
  for (const answer of calls) answer.then((response) => refused.push(response));
  await until("two wait", () => refused.length >= 8);
  cell.resolve();
  await until("one of them is refused too", () => refused.length === 9);
  answered.resolve();
  const statuses = (await Promise.all([open, ...calls])).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 200, ...Array(9).fill(429)]);
});
