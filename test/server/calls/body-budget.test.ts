import { describe, expect, test } from "vitest";
import { BodyBudget, type BodyHolder } from "../../../server/calls/body-budget.ts";

/** So that a key's part is 100 bytes, and a team's 200. */
const LIMIT = 800;

const holder = (keyId: string, teamId = "team"): BodyHolder => ({ keyId, teamId });

/** A budget, and what asks it for bytes as a list of bodies does. */
function open() {
  const bodies: { holder: BodyHolder; budget: BodyBudget; bytes: number }[] = [];
  const budget = new BodyBudget(LIMIT, bodies);
  /** Puts a body there, which is to have room. */
  const put = (who: BodyHolder, bytes: number) => {
    expect(budget.boundOf(who, 0, bytes)).toBeUndefined();
    const body = { holder: who, budget, bytes };
    bodies.push(body);
    budget.change(who, bytes);
    return body;
  };
  const end = (body: (typeof bodies)[number]) => {
    bodies.splice(bodies.indexOf(body), 1);
    budget.change(body.holder, -body.bytes);
  };
  return { budget, put, end };
}

describe("a budget for bodies", () => {
  test("takes any body while all together have no more than one key may", () => {
    const { budget, put } = open();
    put(holder("a"), 60);
    expect(budget.boundOf(holder("a"), 0, 40)).toBeUndefined();
    expect(budget.held).toBe(60);
  });

  test("lets a key have an eighth", () => {
    const { budget, put } = open();
    put(holder("a"), 60);
    expect(budget.boundOf(holder("a"), 0, 41)).toBe("key");
    expect(budget.boundOf(holder("b"), 0, 100), "another key of the team").toBeUndefined();
  });

  test("lets the keys of a team have a quarter together", () => {
    const { budget, put } = open();
    put(holder("a"), 100);
    put(holder("b"), 90);
    expect(budget.boundOf(holder("c"), 0, 10)).toBeUndefined();
    expect(budget.boundOf(holder("c"), 0, 11)).toBe("team");
    expect(budget.boundOf(holder("c", "other team"), 0, 100)).toBeUndefined();
  });

  test("takes a body that is the only one of its key and team, be it larger than their parts", () => {
    const { budget, put } = open();
    put(holder("a", "one"), 80);
    expect(budget.boundOf(holder("b", "two"), 0, 700)).toBeUndefined();
    expect(budget.boundOf(holder("b", "two"), 0, 721)).toBe("process");
  });

  test("counts a body that grows once: what it has there already is not another's", () => {
    const { budget, put } = open();
    const body = put(holder("a"), 90);
    put(holder("b", "other team"), 90);
    expect(budget.boundOf(body.holder, 90, 300)).toBeUndefined();
    expect(budget.boundOf(body.holder, 0, 300), "beside it").toBe("key");
  });

  test("has the bytes again that a body leaves, for its key, its team and all", () => {
    const { budget, put, end } = open();
    const bodies = [put(holder("a"), 90), put(holder("b"), 90)];
    expect(budget.boundOf(holder("c"), 0, 90)).toBe("team");
    for (const body of bodies) end(body);
    expect(budget.held).toBe(0);
    expect(budget.boundOf(holder("c"), 0, LIMIT)).toBeUndefined();
  });

  test("counts the bodies of this budget alone", () => {
    const others = new BodyBudget(LIMIT, []);
    const budget = new BodyBudget(LIMIT, [{ holder: holder("a"), budget: others, bytes: 500 }]);
    budget.change(holder("b", "two"), 150);
    expect(budget.boundOf(holder("a"), 0, 100)).toBeUndefined();
  });
});
