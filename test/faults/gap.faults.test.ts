/** A real network that goes for a while and takes the database's connections with it, under a replica that decides. */
import { describe, expect, it } from "vitest";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam } from "../store/fixtures.ts";
import { databaseBehindProxy, follow } from "./feed-fixtures.ts";

/** Less than what is ridden out by the clock alone (replica-gap.test.ts): connections are opened anew in real time here. */
const GAP_MS = 2_800;
const TICK_MS = 10;

describe.concurrent("a gap in the network", () => {
  const gaps = [
    [900, "reset"],
    [900, "dead in silence"],
    [400, "dead in silence"],
  ] as const;
  it.for(gaps.slice(0, NIGHTLY ? 3 : 2))(
    "c37: of 2.8 s, begun %i ms after a beat, is not felt where the old connections are %s after it",
    async ([phase, after], context) => {
      const database = await databaseBehindProxy(context);
      const key = await storeKey(database.direct, await makeTeam(database.direct));
      const replica = follow(context, database);
      const passed = (ms: number) => {
        const from = performance.now();
        return until(`${ms} ms have passed`, () => performance.now() - from >= ms);
      };
      await until("the key works", () => replica.accepts(key.digest));
      await passed(2_000);

      const { clock } = replica;
      let decisions = 0;
      let refusals = 0;
      let last = performance.now();
      const tick = setInterval(() => {
        // The replica's clocks stand still while the machine has no time for this process: that is not what is tested.
        const late = performance.now() - last - TICK_MS;
        if (late > TICK_MS) {
          clock.steady -= late;
          clock.wall -= late;
        }
        last = performance.now();
        decisions++;
        if (!replica.accepts(key.digest)) refusals++;
      }, TICK_MS);
      context.onTestFinished(() => clearInterval(tick));

      const age = () => replica.replica.figures().age * 1_000;
      await until("a beat has just been", () => age() < 100);
      await passed(phase);
      database.proxy.freeze();
      await passed(GAP_MS);
      if (after === "reset") database.proxy.reset();
      database.proxy.thaw();
      await until("it follows again", () => age() < 500);
      expect({ refusals, decided: decisions > 0 }).toEqual({ refusals: 0, decided: true });
    },
  );
});
