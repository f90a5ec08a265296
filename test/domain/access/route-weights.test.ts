import { describe, expect, test } from "vitest";
import { choicesOf, inTurn, type RouteTarget, weightText } from "../../../domain/access/route-weights.ts";
import { examples } from "../../env/nightly.ts";
import { randomFrom } from "../../env/random.ts";

const DRAWS = examples(20_000);
/** Standard deviations within which a count of draws is: one count in 300,000 is beyond. */
const BOUND = 4.6;

const target = (upstream: string, weight?: number): RouteTarget => ({ upstream, upstreamModel: "gpt", weight });
/** Seeds as calls have them: a prefix for the thread, and a counter. */
const ofCalls = Array.from({ length: DRAWS }, (_, i) => `req_9fZkQ2vLw0Ab${i.toString(36)}`);
const ofKeys = (() => {
  const { below } = randomFrom(1);
  const letter = () => below(36).toString(36);
  return Array.from({ length: DRAWS }, () => `key_${Array.from({ length: 20 }, letter).join("")}`);
})();
const SEEDS = [
  ["calls", ofCalls],
  ["keys", ofKeys],
] as const;

const firstOf = (targets: readonly RouteTarget[], seed: string) => inTurn(targets, seed)[0]?.upstream ?? "";

function expectShare(count: number, of: number, share: number): void {
  const deviation = Math.sqrt(of * share * (1 - share));
  expect(Math.abs(count - of * share), `${count} of ${of}, for a share of ${share}`).toBeLessThan(
    BOUND * Math.max(deviation, 1),
  );
}

describe.each(SEEDS)("b415: over the seeds of %s", (_, seeds) => {
  test.each([[[3, 1]], [[70, 25, 5]], [[1_000_000, 1]]])("each upstream is the first for its share: %j", (weights) => {
    const targets = weights.map((weight, i) => target(`up-${i}`, weight));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const counts = new Map<string, number>();
    for (const seed of seeds) {
      const first = firstOf(targets, seed);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    for (const [i, weight] of weights.entries()) expectShare(counts.get(`up-${i}`) ?? 0, DRAWS, weight / total);
  });

  test("those that are asked next share in the same proportions, and one choice says nothing of the one before", () => {
    const targets = [target("west", 70), target("east", 25), target("north", 5)];
    const orders = seeds.map((seed) => inTurn(targets, seed).map(({ upstream }) => upstream));
    const afterWest = orders.filter(([first]) => first === "west");
    expectShare(afterWest.filter(([, next]) => next === "east").length, afterWest.length, 25 / 30);
    const pairs = orders.slice(1).filter(([first], i) => first === "west" && orders[i]?.[0] === "west");
    expectShare(pairs.length, DRAWS - 1, 0.49);
  });
});

test("b415: a changed weight, a lost upstream and a new one move no seed but those that they must", () => {
  const [west, east, north] = [target("west", 2), target("east", 1), target("north", 1)];
  const before = ofKeys.map((seed) => firstOf([west, east, north], seed));
  const movedTo = (targets: readonly RouteTarget[]) => {
    const moves = ofKeys.flatMap((seed, i) => {
      const now = firstOf(targets, seed);
      return now === before[i] ? [] : [`${before[i]} to ${now}`];
    });
    return Map.groupBy(moves, (move) => move);
  };
  const heavier = movedTo([target("west", 4), east, north]);
  expect([...heavier.keys()].toSorted()).toEqual(["east to west", "north to west"]);
  expectShare([...heavier.values()].flat().length, DRAWS, 4 / 6 - 2 / 4);
  const lost = movedTo([west, east]);
  expect([...lost.keys()].toSorted()).toEqual(["north to east", "north to west"]);
  const toWest = lost.get("north to west")?.length ?? 0;
  expectShare(toWest, before.filter((one) => one === "north").length, 2 / 3);
  const gained = movedTo([west, east, north, target("south", 1)]);
  expect([...gained.keys()].toSorted()).toEqual(["east to south", "north to south", "west to south"]);
  expectShare([...gained.values()].flat().length, DRAWS, 1 / 5);
  expect(movedTo([north, west, east]).size).toBe(0);
});

test("b415: a seed leads to the same upstreams in every version: another order would move all keys", () => {
  const targets = [target("west", 2), target("east", 1), target("north", 1)];
  const orders = ["key_a", "key_b", "key_c", "key_d"].map((seed) =>
    inTurn(targets, seed).map(({ upstream }) => upstream),
  );
  expect(orders).toMatchInlineSnapshot(`
    [
      [
        "north",
        "west",
        "east",
      ],
      [
        "west",
        "north",
        "east",
      ],
      [
        "west",
        "north",
        "east",
      ],
      [
        "west",
        "east",
        "north",
      ],
    ]
  `);
});

test("two models of one upstream are two targets", () => {
  const models = ["old", "new"].map((upstreamModel) => ({ upstream: "west", upstreamModel, weight: 1 }));
  const firsts = ofKeys.filter((seed) => inTurn(models, seed)[0]?.upstreamModel === "old");
  expectShare(firsts.length, DRAWS, 1 / 2);
});

describe("the targets of a route", () => {
  const fallbacks = [target("east", 1), target("spare"), target("idle", 0)];

  test("share its calls where they have a weight above 0; the others are asked after, as declared", () => {
    const route = { ...target("west", 3), fallbacks };
    const choices = choicesOf(route);
    expect(choices.first.map(({ upstream }) => upstream)).toEqual(["west", "east"]);
    expect(choices.after.map(({ upstream }) => upstream)).toEqual(["spare", "idle"]);
    expect(choices.first.map((one) => weightText(one, choices))).toEqual(["weight 3 of 4", "weight 1 of 4"]);
    expect(choices.after.map((one) => weightText(one, choices))).toEqual([undefined, undefined]);
  });

  test("with weight 0 of its own upstream are the others, of which one alone gets all calls", () => {
    const { first, after } = choicesOf({ ...target("west", 0), fallbacks });
    expect(inTurn(first, "any").map(({ upstream }) => upstream)).toEqual(["east"]);
    expect(after.map(({ upstream }) => upstream)).toEqual(["west", "spare", "idle"]);
  });

  test("without weights are its upstream, and then its fallbacks", () => {
    const route = { ...target("west"), fallbacks: [target("east"), target("spare")] };
    const choices = choicesOf(route);
    expect(choices).toEqual({ first: [route], after: route.fallbacks });
    expect(weightText(route, choices)).toBeUndefined();
  });
});
