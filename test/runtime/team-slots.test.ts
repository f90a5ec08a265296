import { expect, test } from "vitest";
import type { TeamBounds } from "../../runtime/team-bounds.ts";
import { TeamSlots } from "../../runtime/team-slots.ts";

/** Turns of six at a time, of which one of a second is slow. */
function openSlots() {
  let now = 0;
  const slots = new TeamSlots({ most: 6, slowMs: 1_000 }, () => now);
  const asked: TeamBounds[] = [];
  /** Begins a turn of a team; the answer ends it. */
  const begin = async (teamId: string) => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
    const claim = async (bounds: TeamBounds) => {
      asked.push(bounds);
      return { teamId };
    };
    const through = slots.takeNext(claim, () => {
      hasBegun();
      return promise;
    });
    await begun;
    return async () => {
      end();
      await through;
    };
  };
  const bounds = async () => {
    await slots.takeNext(
      async (asking) => void asked.push(asking),
      async () => {},
    );
    return asked.at(-1);
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { begin, bounds, pass };
}

test("b137: a team has half of the turns at most", async () => {
  const { begin, bounds } = openSlots();
  expect(await bounds()).toEqual({ except: [], after: "" });
  const [end] = [await begin("a"), await begin("a"), await begin("a"), await begin("b")];
  expect(await bounds()).toEqual({ except: ["a"], after: "b" });
  await end?.();
  expect(await bounds()).toEqual({ except: [], after: "b" });
});

test("b137: teams whose turns are long share one half of them, also before those are over", async () => {
  const { begin, bounds, pass } = openSlots();
  const ends = [await begin("a"), await begin("b"), await begin("c")];
  pass(1_001);
  expect((await bounds())?.except).toEqual(["a", "b", "c"]);
  await ends[0]?.();
  expect((await bounds())?.except).toEqual([]);
  await begin("a");
  expect((await bounds())?.except.toSorted()).toEqual(["a", "b", "c"]);
});

test("a team is slow until a turn of theirs is not", async () => {
  const { begin, bounds, pass } = openSlots();
  const slow = await begin("a");
  pass(1_001);
  await slow();
  await (await begin("a"))();
  await begin("b");
  await begin("c");
  await begin("d");
  pass(1_001);
  expect((await bounds())?.except.toSorted()).toEqual(["b", "c", "d"]);
});
