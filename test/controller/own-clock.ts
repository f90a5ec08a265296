import { expect, it } from "vitest";
import { change } from "../../store/database/change.ts";
import { requestRotation } from "../../store/keys/lifecycle/rotation-request.ts";
import { until } from "../env/until.ts";
import type { WorldTests } from "./fixtures/setup.ts";
import { HOUR, key, startWorld, type World } from "./fixtures/world.ts";

export const MINUTE = 60_000;
export const overlap = { mode: "Fixed", duration: "30m" };

export const states = async (world: World) =>
  (await world.stored("agent")).versions.map(({ number, state }) => `${number} ${state}`);

/** Has the key looked at again, and waits until the plan of that moment has been carried out. */
export async function lookAgain(world: World): Promise<void> {
  world.poke("agent");
  await world.rest();
}

/** A controller whose own clock is wrong: it decides nothing. */
export const withWrongClock: WorldTests = (setup) => {
  it.for([-HOUR, HOUR])(
    "c50: by %i ms mints keys that live, and overlap, for as long as they should",
    async (off, context) => {
      const world = await startWorld(context, setup());
      world.setClockOff(off);
      const spec = { expiresAfter: "40m", rotation: { overlap } };
      await world.declare(key("agent", spec));
      const first = await world.plaintextOf("agent");
      expect([world.condition("Ready", "agent"), world.decide(first)]).toEqual(["True/Ready", "allowed"]);
      const [version] = (await world.stored("agent")).versions;
      expect(Math.abs((version?.mintedAt ?? 0) - world.clock.now())).toBeLessThan(MINUTE);

      await world.advance(5 * MINUTE);
      await world.declare(key("agent", { ...spec, rotation: { overlap, trigger: "now" } }));
      const second = await world.plaintextOf("agent");
      expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);

      world.setClockOff(-off);
      await lookAgain(world);
      await world.advance(25 * MINUTE);
      expect(await states(world), "the overlap lasts").toEqual(["2 active", "1 retiring"]);
      expect(world.decide(first)).toBe("allowed");
      await world.advance(6 * MINUTE);
      expect(await states(world)).toEqual(["2 active", "1 retired"]);
      expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
      await world.advance(10 * MINUTE);
      expect([world.condition("Ready", "agent"), world.decide(second)]).toEqual(["False/Expired", "unauthorized"]);
    },
  );

  it.for([-HOUR, HOUR])("c50: by %i ms fulfils a rotation by hand once", async (off, context) => {
    const world = await startWorld(context, setup());
    world.setClockOff(off);
    await world.declare(key("agent"));
    const first = await world.plaintextOf("agent");
    const { id } = await world.stored("agent");
    await change(setup().store, null, (tx) => requestRotation(tx, id, true));
    world.poke("agent");
    await until("a new key", async () => (await world.keyIn("agent")) !== first);
    await world.rest();
    await lookAgain(world);
    expect(await states(world)).toEqual(["2 active", "1 retired"]);
    expect([world.decide(first), world.decide(await world.plaintextOf("agent"))]).toEqual(["unauthorized", "allowed"]);
  });

  it("c50: by a day rotates neither before its interval has passed nor after", async (context) => {
    const world = await startWorld(context, setup());
    world.setClockOff(24 * HOUR);
    await world.declare(key("agent", { rotation: { interval: "10h", overlap } }));
    await lookAgain(world);
    expect(await states(world)).toEqual(["1 active"]);
    world.setClockOff(-24 * HOUR);
    await world.advance(10 * HOUR);
    expect(await states(world)).toEqual(["2 active", "1 retiring"]);
  });
};
