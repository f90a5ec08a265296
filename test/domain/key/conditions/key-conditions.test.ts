import { expect, it } from "vitest";
import { DEFAULT_OVERLAP } from "../../../../domain/key/declaration/declared-key.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import { observe, redeclared, rotated, step, type World } from "../exploration/world.ts";

const observed = (world: World) => observe(world, world.declaration ?? expect.fail("it is declared"));

it("a delivered version that waits to become the active one is no edited Secret", () => {
  const atOnce = { mode: "Fixed", duration: 0 } as const;
  let world = redeclared(rotated(DEFAULT_OVERLAP, 4), { overlap: atOnce, rotationTrigger: "now" });
  const holds = () => {
    const { secret } = observed(world);
    return secret.state === "ours" ? secret.holds : undefined;
  };
  for (let i = 0; i < 12 && holds() !== 6; i++) world = step({ ...world, confirmed: true });
  expect(holds()).toBe(6);
  // There was room for it when it was minted, and is none by the overlap that is declared meanwhile.
  world = step({ ...redeclared(world, { overlap: DEFAULT_OVERLAP }), confirmed: true });
  const { action, conditions } = planKey(observed({ ...world, confirmed: true }), world.now);
  const said = (type: string) => conditions.find((one) => one.type === type);
  expect(action).toEqual({ do: "Nothing" });
  expect(said("SecretDelivered")).toMatchObject({ status: "True", reason: "Delivered" });
  expect(said("SecretDelivered")?.message).toMatch(/holds version 6.*becomes the active one when there is room/);
  expect(said("Ready")).toMatchObject({ status: "True", message: "Version 6 is delivered and enforced." });
  expect(said("Reconciling")?.reason).toBe("RotationDelayed");
  const outdated = planKey({ ...observed({ ...world, confirmed: true }), generation: 0 }, world.now).conditions;
  const delivered = outdated.find(({ type }) => type === "SecretDelivered");
  expect(delivered?.message).toMatch(/becomes the active one once the declaration counts again/);
});
