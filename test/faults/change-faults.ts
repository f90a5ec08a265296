/** Faults while what is declared of a key changes. */
import { expect, it } from "vitest";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import { HOUR, key, startWorld } from "../controller/fixtures/world.ts";
import { endState } from "./end-state.ts";
import { endsAsUsual, play } from "./scenarios.ts";

export const changeFaults: WorldTests = (setup) => {
  it("c9: a kill in a rotation leaves both versions for the overlap, and ends it by the stored deadline", async (context) => {
    const { world, before = "" } = await endsAsUsual(context, setup(), "a rotation", {
      effect: "commit key.activated",
      how: "killed after",
    });
    const next = await world.plaintextOf("agent");
    expect([world.decide(before), world.decide(next)]).toEqual(["allowed", "allowed"]);
    await world.stop();
    await world.advance(HOUR);
    expect([world.decide(before), world.decide(next)]).toEqual(["unauthorized", "allowed"]);
  });

  it("c10: an overlap's deadline that passes while no controller runs refuses the old version", async (context) => {
    const { world, before = "" } = await play(context, setup(), "a rotation");
    const next = await world.plaintextOf("agent");
    await world.stop();
    await world.advance(HOUR + 1);
    expect([world.decide(before), world.decide(next)]).toEqual(["unauthorized", "allowed"]);
    await world.start();
    await world.rest();
    expect((await world.stored("agent")).versions.map(({ state }) => state)).toEqual(["active", "retired"]);
    expect(await world.plaintextOf("agent")).toBe(next);
  });

  it("c15: a declaration that changes and changes back before it is looked at ends as it was, with no stray version", async (context) => {
    const a = key("agent", { rotation: { trigger: "a" } });
    const b = key("agent", { rotation: { trigger: "b" }, preset: "MCPReadWrite" });
    const world = await startWorld(context, setup(), key("other"), a);
    const plaintext = await world.plaintextOf("agent");
    const before = await endState(world, ["agent", "other"], [plaintext]);
    await world.stop();
    await world.write(b);
    await world.write(a);
    await world.start();
    await world.rest();
    expect(await endState(world, ["agent", "other"], [plaintext])).toEqual(before);
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });
};
