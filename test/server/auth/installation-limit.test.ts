import { afterAll, beforeAll, expect, test } from "vitest";
import type { RoutePlugin } from "../../../server/app.ts";
import { InstallationLimits } from "../../../server/limits/installation-limits.ts";
import { type Harness, startHarness } from "../harness.ts";
import { cellsInMemory } from "../limits/cells.ts";

const answered = Promise.withResolvers<void>();
const atoms: RoutePlugin = (app) => {
  app.get("/atoms", { config: { operation: "atoms.list" } }, async () => {
    await answered.promise;
    return { items: [] };
  });
};

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({
    mounts: [{ at: "", routes: atoms }],
    limits({ monotonic }) {
      const { draw } = cellsInMemory({ now: monotonic() });
      // Every call is asked for: there are more threads than the limit has requests a second.
      return new InstallationLimits({ draw, mostDraws: 10, threads: () => 4, monotonic });
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
  const calls = Array.from({ length: 20 }, () => fetch(`${harness.url}/atoms`, { headers }));
  const refused = await Promise.race([Promise.all(calls), firstRefused(calls, 18)]);
  expect(refused.map(({ status }) => status)).toEqual(Array(18).fill(429));
  answered.resolve();
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
});

/** The first so many answers that are refusals. */
function firstRefused(calls: readonly Promise<Response>[], count: number): Promise<Response[]> {
  const { promise, resolve } = Promise.withResolvers<Response[]>();
  const refused: Response[] = [];
  for (const call of calls) {
    call.then((answer) => {
      if (answer.status === 429 && refused.push(answer) === count) resolve(refused);
    });
  }
  return promise;
}
