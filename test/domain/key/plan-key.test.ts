import { describe, expect, it } from "vitest";
import { DEFAULT_OVERLAP } from "../../../domain/key/declared-key.ts";
import { planKey } from "../../../domain/key/plan-key.ts";
import { declare, newWorld, observe, redeclared, rotated } from "./exploration/world.ts";

describe("a Secret that may not be read", () => {
  const unreadable = { state: "unreadable", why: "no Role" } as const;

  it.each([
    ["before there is a key", newWorld(declare())],
    ["of a key that is delivered", rotated(DEFAULT_OVERLAP, 0)],
  ])("c58: is looked at again within 30 s: %s", (_, world) => {
    const { declaration } = world;
    if (declaration === null) throw new Error("it is declared");
    const observed = { ...observe(world, { ...declaration, hasFinalizer: true }), secret: unreadable };
    const { action, requeueAt } = planKey(observed, world.now);
    expect(action).toEqual({ do: "Nothing" });
    expect(requeueAt).toBe(world.now + 30_000);
  });
});

describe("a declaration that is older than what was applied", () => {
  const current = redeclared(rotated(DEFAULT_OVERLAP, 0), { scopes: ["memory:write"] });
  const { declaration } = current;
  if (declaration === null) throw new Error("it is declared");
  const observed = observe(current, declaration);

  it("c25: takes nothing back", () => {
    expect(planKey(observed, current.now).action).toMatchObject({ do: "UpdatePolicy" });
    expect(planKey({ ...observed, generation: 0 }, current.now).action).toEqual({ do: "Nothing" });
  });
});
