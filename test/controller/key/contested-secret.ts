import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import type { WorldTests } from "../fixtures/setup.ts";
import { HOUR, key, startWorld, type World } from "../fixtures/world.ts";

/** The condition SecretDelivered of the key. */
export const delivered = async (world: World) =>
  (await world.status("agent")).conditions.find(({ type }) => type === "SecretDelivered");

/** A Secret that is deleted again and again. */
export const contested: WorldTests = (setup) => {
  it("c51: ends no version before its time: while there is room it waits for 30 s at most, and then for the first's end", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const keys: string[] = [];
    for (const waitMs of [0, 5_000, 30_000, 30_000]) {
      keys.push(await world.plaintextOf("agent"));
      await world.loseSecret("agent");
      world.poke("agent");
      if (waitMs > 0) {
        const said = await until("it is said", async () => {
          const condition = await delivered(world);
          return condition?.reason === "SecretContested" ? condition.message : undefined;
        });
        expect(said).toContain("There is room for another version, and it is minted at 20");
        expect(await world.keyIn("agent")).toBeUndefined();
        await world.advance(waitMs);
      }
      await until("another key", async () => ![undefined, ...keys].includes(await world.keyIn("agent")));
      await world.rest();
    }
    keys.push(await world.plaintextOf("agent"));
    expect(keys.map((one) => world.decide(one))).toEqual(Array(5).fill("allowed"));

    await world.loseSecret("agent");
    world.poke("agent");
    const said = await until("it is said", async () => {
      const condition = await delivered(world);
      return condition?.reason === "SecretContested" ? condition.message : undefined;
    });
    const { versions } = await world.stored("agent");
    const end = versions.at(-1)?.retireAt ?? 0;
    expect(said).toContain("deleted or edited 5 times within the overlap (deleted 20");
    expect(said).toContain("4 old versions still work, and a key has no more of them");
    expect(said).toContain(`the next one is minted at ${new Date(end).toISOString().replace(/\.\d+Z$/, "Z")}`);
    expect(said).toContain("it had no mark of another tool");
    await world.advance(HOUR);
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(keys.map((one) => world.decide(one))).toEqual(Array(5).fill("allowed"));
    expect(world.condition("Reconciling", "agent")).toBe("True/SecretContested");
    expect((await delivered(world))?.message, "when it was deleted, reported an hour later").toBe(said);

    await world.advance(end - world.clock.now());
    const [first, ...others] = keys;
    const next = await until("another key", async () => world.keyIn("agent"));
    await world.rest();
    expect([first, ...others, next].map((one) => world.decide(one ?? ""))).toEqual([
      "unauthorized",
      ...Array(5).fill("allowed"),
    ]);
  });
};
