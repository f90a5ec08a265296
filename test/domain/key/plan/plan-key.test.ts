import { describe, expect, it } from "vitest";
import { DEFAULT_OVERLAP } from "../../../../domain/key/declaration/declared-key.ts";
import type { ObservedSecret } from "../../../../domain/key/observed/observed-key.ts";
import type { KeyAction } from "../../../../domain/key/plan/key-action.ts";
import { planEnd } from "../../../../domain/key/plan/plan-end.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import { NOW, stateOf } from "../../rule-table.ts";
import { HOUR, plan, publishedInVain, redeclared, rotated, step, type World } from "../exploration/world.ts";
import { observedKey } from "../situations.ts";
import { ENDS } from "./plan-end.rows.ts";
import { KEY_RULES } from "./plan-key.rows.ts";

describe.each(KEY_RULES.tables)("$decision", ({ rows }) => {
  it.each(rows)("$rule", (row) => {
    const { action, requeueAt, conditions } = planKey(observedKey(stateOf(KEY_RULES, row)), NOW);
    const because = conditions.find(({ type }) => type === "SecretDelivered")?.reason;
    expect({ ...action, requeueAt, because }).toMatchObject(row.outcome);
  });
});

describe("a key that is to end", () => {
  const { secret: delivered } = KEY_RULES.bases["at rest"].state;
  const SECRETS: readonly ObservedSecret[] = [
    delivered,
    { state: "absent" },
    { state: "unmanaged" },
    { state: "unreadable", why: "no Role" },
  ];

  it.each(ENDS.rows)("c71: ends by the declaration and the store alone, whatever its Secret is: $rule", (row) => {
    const observed = observedKey(stateOf(KEY_RULES, row));
    const end = planEnd(observed);
    const { outcome } = row;
    const isEnd = outcome.do === "Revoke" || (outcome.do === "UpdatePolicy" && outcome.policy?.suspended === true);
    expect(end !== undefined).toBe(isEnd);
    for (const secret of SECRETS) {
      const { action } = planKey({ ...observed, secret, confirmed: false }, NOW);
      if (end !== undefined) expect(action).toEqual(end);
      else expect(action).not.toMatchObject({ do: "Revoke" });
    }
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
