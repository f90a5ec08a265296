import { describe, expect, it } from "vitest";
import { DEFAULT_OVERLAP } from "../../../domain/key/declared-key.ts";
import type { ObservedKey, ObservedSecret } from "../../../domain/key/observed-key.ts";
import { type KeyAction, planEnd, planKey } from "../../../domain/key/plan-key.ts";
import {
  declare,
  HOUR,
  newWorld,
  observe,
  plan,
  publishedInVain,
  redeclared,
  rotated,
  step,
  type World,
} from "./exploration/world.ts";

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

describe("versions that may have been read, and whose Secret is lost", () => {
  /** The world in which this is the next step. */
  const atStep = (start: World, action: KeyAction["do"]): World => {
    let world = start;
    for (let i = 0; i < 12 && plan(world)?.action.do !== action; i++) world = { ...step(world), confirmed: true };
    return world;
  };
  const states = ({ keys }: World) =>
    keys.flatMap(({ versions }) => versions.map(({ number, state }) => [number, state]));

  it("c66: have the version after them wait for room, delivered and accepted, where too many old ones go on", () => {
    const rotating = redeclared(rotated(DEFAULT_OVERLAP, 3), { rotationTrigger: "again" });
    const lost = { ...step(atStep(rotating, "Publish"), "crash after"), secret: null };
    const waiting = atStep(lost, "Nothing");
    const { conditions, requeueAt } = plan(waiting) ?? {};
    expect(requeueAt).toBe(24 * HOUR);
    expect(conditions?.find(({ type }) => type === "SecretDelivered")).toMatchObject({
      status: "True",
      message: expect.stringContaining("holds version 6 (inf_...). It becomes the active one when there is room."),
    });
    const reserved = [6, 5].map((number) => [number, "reserved"]);
    expect(states(waiting).slice(0, 3)).toEqual([...reserved, [4, "active"]]);

    const ended = atStep({ ...waiting, now: 24 * HOUR }, "Activate");
    expect(states(step(ended)).slice(0, 3)).toEqual([
      [6, "active"],
      [5, "retiring"],
      [4, "retiring"],
    ]);
  });

  it("c66: begin their overlap, four of them, with the oldest, as the next version is reserved a minute later", () => {
    const world = publishedInVain(4);
    expect(plan(world)).toMatchObject({ action: { do: "Nothing" }, requeueAt: 60_000 });
    const next = { ...world, now: 60_000 };
    expect(plan(next)?.action).toMatchObject({ do: "Reserve", supersedes: { number: 1, endsAt: 60_000 + 24 * HOUR } });
    const retiring = [4, 3, 2, 1].map((number) => [number, "retiring"]);
    expect(states(atStep(next, "Nothing"))).toEqual([[5, "active"], ...retiring]);
  });

  it("c66: end at once where a person has asked for the old versions to end", () => {
    const world = { ...publishedInVain(2), now: HOUR };
    const keys = world.keys.map((key) => ({ ...key, rotationRequest: { at: HOUR, revokeOld: true } }));
    expect(states(atStep({ ...world, keys }, "Nothing"))).toEqual([
      [3, "active"],
      [2, "retired"],
      [1, "retired"],
    ]);
  });
});

describe("a key that is to end", () => {
  const world = rotated(DEFAULT_OVERLAP, 0);
  const { declaration } = world;
  if (declaration === null) throw new Error("it is declared");
  const alive = observe(world, { ...declaration, hasFinalizer: true });
  const going = { ...alive, deleting: true };
  const declared = (more: Partial<ObservedKey["declared"]>) => ({ ...alive.declared, ...more });
  const SECRETS: readonly ObservedSecret[] = [
    alive.secret,
    { state: "absent" },
    { state: "unmanaged" },
    { state: "unreadable", why: "no Role" },
  ];

  it.each<[string, ObservedKey, object | undefined]>([
    ["one that is deleted", going, { do: "Revoke", reason: "Deleted" }],
    ["one that is declared revoked", { ...alive, declared: declared({ state: "Revoked" }) }, { reason: "Declared" }],
    ["one of another team", { ...alive, references: { ...alive.references, teamId: "t2" } }, { reason: "Moved" }],
    ["one that is suspended", { ...alive, declared: declared({ state: "Suspended" }) }, { do: "UpdatePolicy" }],
    ["one that is declared active", alive, undefined],
    ["one with Retain", { ...going, declared: declared({ retainOnDelete: true }) }, undefined],
    ["one with protection", { ...going, declared: declared({ deletionProtection: true }) }, undefined],
    [
      "one with protection that is suspended",
      { ...going, declared: declared({ deletionProtection: true, state: "Suspended" }) },
      { do: "UpdatePolicy" },
    ],
    ["one that only changes", { ...alive, declared: declared({ displayName: "new" }) }, undefined],
    ["one whose finalizer is not there", { ...going, hasFinalizer: false }, undefined],
    ["one that has no key", { ...going, stored: undefined }, undefined],
  ])("c71: ends by the declaration and the store alone, whatever its Secret is: %s", (_, observed, end) => {
    if (end === undefined) expect(planEnd(observed)).toBeUndefined();
    else expect(planEnd(observed)).toMatchObject(end);
    for (const secret of SECRETS) {
      const { action } = planKey({ ...observed, secret, confirmed: false }, world.now);
      if (end !== undefined) expect(action).toEqual(planEnd(observed));
      else expect(action).not.toMatchObject({ do: "Revoke" });
    }
  });
});
