import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyBudget, type BodyHolder } from "../../../server/calls/body-budget.ts";
import { KeptBodies, KeptBody } from "../../../server/calls/kept-bodies.ts";
import { examples } from "../../env/nightly.ts";

const KIB = 1_024;
/** Of which 2 MiB are the reserve, and 6 MiB for all. */
const LIMIT = 8 << 20;
const COMMON_BUDGET = 6 << 20;

class TestBody extends KeptBody {
  readonly holder: BodyHolder;
  readonly #bodies: KeptBodies;
  isAwaited = true;
  isCut = false;

  constructor(bodies: KeptBodies, holder: BodyHolder) {
    super();
    this.holder = holder;
    this.#bodies = bodies;
  }

  evict(): void {
    expect(this.isAwaited).toBe(true);
    this.isCut = true;
    this.#bodies.release(this);
  }
}

/** One team with keys of its own does what it likes: bodies begin, grow, become whole and end. */
const move = fc.record({
  team: fc.nat({ max: 6 }),
  key: fc.nat({ max: 3 }),
  does: fc.constantFrom("begin", "grow", "grow", "grow", "complete", "end"),
  which: fc.nat({ max: 1_000 }),
  bytes: fc.oneof(fc.integer({ min: 1, max: 3 * KIB }), fc.integer({ min: 1, max: 900 * KIB })),
});

test("b110: whatever bodies do, the sums are those of the bodies, and no bound is exceeded", () => {
  fc.assert(
    fc.property(fc.array(move, { minLength: 50, maxLength: 400 }), (moves) => {
      const bodies = new KeptBodies(LIMIT);
      const open: TestBody[] = [];
      for (const { team, key, does, which, bytes } of moves) {
        const body = open[which % (open.length || 1)];
        if (does === "begin" || body === undefined) {
          open.push(new TestBody(bodies, { keyId: `key_${team}_${key}`, teamId: `team-${team}` }));
        } else if (does === "grow") {
          if (!body.isCut && body.isAwaited) bodies.keep(body, bytes);
        } else if (does === "complete") body.isAwaited = false;
        else {
          bodies.release(body);
          open.splice(open.indexOf(body), 1);
        }
        expectBounds(bodies, open);
      }
      for (const body of open) bodies.release(body);
      expect(bodies.held).toBe(0);
    }),
    { numRuns: examples(60) },
  );
});

function expectBounds(bodies: KeptBodies, open: readonly TestBody[]): void {
  expect(bodies.held).toBe(open.reduce((sum, { bytes }) => sum + bytes, 0));
  expect(bodies.held).toBeLessThanOrEqual(LIMIT);
  for (const budget of new Set(open.map((body) => body.budget))) {
    if (budget === undefined) continue;
    const here = open.filter((body) => body.budget === budget);
    expect(budget.held).toBe(here.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(budget.held).toBeLessThanOrEqual(budget.limit);
    for (const [part, of] of [
      [1 / 8, "keyId"],
      [1 / 4, "teamId"],
    ] as const) {
      for (const id of new Set(here.map(({ holder }) => holder[of]))) {
        const own = here.filter(({ holder }) => holder[of] === id);
        const sum = own.reduce((bytes, body) => bytes + body.bytes, 0);
        if (own.length > 1) expect(sum).toBeLessThanOrEqual(budget.limit * part);
      }
    }
  }
}

test("b110: whatever one team does, another team's small body finds room", () => {
  fc.assert(
    fc.property(fc.array(move, { minLength: 50, maxLength: 400 }), (moves) => {
      const bodies = new KeptBodies(LIMIT);
      const open: TestBody[] = [];
      for (const { key, which, bytes } of moves) {
        const body = open[which % (open.length || 1)];
        // None of them ever ends: some are whole, and not one may be cut.
        if (body === undefined || which % 3 > 0) {
          const begun = new TestBody(bodies, { keyId: `key_${key}`, teamId: "hostile" });
          begun.isAwaited = which % 2 === 0;
          open.push(begun);
          bodies.keep(begun, bytes);
        } else if (!body.isCut) bodies.keep(body, bytes);
        const other = new TestBody(bodies, { keyId: "other", teamId: "others" });
        expect(bodies.keep(other, 2 * KIB)).toBeUndefined();
        expect(bodies.keep(other, 60 * KIB)).toBeUndefined();
        bodies.release(other);
      }
      expect(open.some(({ isCut }) => isCut)).toBe(false);
    }),
    { numRuns: 100 },
  );
});

/** Bodies of a size, each of a key of its own, as many as find room. */
function fill(bodies: KeptBodies, bytes: number, holderOf: (n: number) => BodyHolder): TestBody[] {
  const filled: TestBody[] = [];
  for (let n = 0; n < 10_000; n++) {
    const body = new TestBody(bodies, holderOf(n));
    body.isAwaited = false;
    if (bodies.keep(body, bytes) !== undefined) return filled;
    filled.push(body);
  }
  throw new Error("there is no end of room");
}
const sumOf = (bodies: readonly KeptBody[]) => bodies.reduce((sum, { bytes }) => sum + bytes, 0);

test.each([
  ["an eighth", 1 / 8, "key", () => ({ keyId: "key", teamId: "team" })],
  ["a quarter", 1 / 4, "team", (n: number) => ({ keyId: `key_${n}`, teamId: "team" })],
  ["all", 1, "process", (n: number) => ({ keyId: `key_${n}`, teamId: `team-${n}` })],
] as const)("b110: large bodies have %s of their room, then it is their %s's bound", (_part, part, bound, holderOf) => {
  const bodies = new KeptBodies(LIMIT);
  const filled = fill(bodies, 128 * KIB, holderOf);
  expect(sumOf(filled)).toBe(COMMON_BUDGET * part);
  expect(bodies.keep(new TestBody(bodies, holderOf(filled.length)), 128 * KIB)).toBe(bound);
  expect(bodies.refused).toBe(2);
  // A small one of the same caller has the reserve.
  expect(bodies.keep(new TestBody(bodies, holderOf(filled.length)), 2 * KIB)).toBeUndefined();
});

test("b110: small bodies have the reserve, and beyond its part the room of all as well", () => {
  const bodies = new KeptBodies(LIMIT);
  const filled = fill(bodies, KIB, () => ({ keyId: "key", teamId: "team" }));
  expect(sumOf(filled)).toBe(LIMIT / 8);
});

test("b110: one body fills what its key and its team may not fill with several, but not more than its room", () => {
  const bodies = new KeptBodies(LIMIT);
  const only = new TestBody(bodies, { keyId: "key", teamId: "team" });
  while (bodies.keep(only, 64 * KIB) === undefined);
  expect(only.bytes).toBe(COMMON_BUDGET);
});

test("b110: a body makes way by when its last byte came, and not by when it began", () => {
  const bodies = new KeptBodies(LIMIT);
  const [first, second, third] = ["a", "b", "c"].map((teamId) => new TestBody(bodies, { keyId: teamId, teamId }));
  if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
  for (const body of [first, second]) expect(bodies.keep(body, 2_000 * KIB)).toBeUndefined();
  expect(bodies.keep(first, KIB)).toBeUndefined();
  expect(bodies.keep(third, 3_000 * KIB)).toBeUndefined();
  expect([first.isCut, second.isCut, third.isCut]).toEqual([false, true, false]);
});

test("b110: a room counts what each has only while more is held than one key may have", () => {
  const body = { holder: { keyId: "key", teamId: "team" }, budget: undefined, bytes: 0 };
  let asked = 0;
  const list = {
    *[Symbol.iterator]() {
      asked++;
      yield body;
    },
  };
  const budget = new BodyBudget(800, list);
  for (let n = 0; n < 99; n++) {
    expect(budget.boundOf(body.holder, 0, 1)).toBeUndefined();
    budget.change(body.holder, 1);
  }
  expect(asked).toBe(0);
});
