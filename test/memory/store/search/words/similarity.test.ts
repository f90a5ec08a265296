import fc from "fast-check";
import { expect, test } from "vitest";
import { comparer, lettersOf, similarity } from "../../../../../memory/store/search/words/similarity.ts";

const like = (wanted: string, present: string) => comparer({ kind: "word", text: wanted })(present, lettersOf(present));

test.each([
  ["rotation", "rotatoin"],
  ["rotation", "rotatin"],
  ["rotation", "rotattion"],
  ["rotation", "rotazion"],
  ["rotation", "otation"],
  ["schluessel", "schlussel"],
])("%s is like %s, which has a slip in it", (wanted, present) => {
  expect(like(wanted, present)).toBeGreaterThanOrEqual(0.65);
});

test.each([
  ["kettle", "bottle"],
  ["port", "part"],
  ["rotation", "notations"],
])("%s is another word than %s", (wanted, present) => {
  expect(like(wanted, present)).toBeLessThan(1);
});

test.each([
  ["rotation", "rotations"],
  ["running", "runs"],
  ["agreed", "agreeing"],
  ["keys", "key"],
])("%s is the same word as its form %s", (wanted, present) => {
  expect(like(wanted, present)).toBe(1);
});

test("beside a word itself, what is only like it counts no further", () => {
  const word = { kind: "word", text: "rotation" } as const;
  const condition = { kind: "word", lexeme: "part ^rot" } as const;
  const scoreOf = similarity([{ word, condition, isComplete: true, share: 0, rarity: 1 }], []);
  const { score } = scoreOf("rotation of keys by night");
  expect(scoreOf("rotation of rotatoin by night").score).toBe(score);
  expect(scoreOf("rotatoin of rotation by night").score).toBe(score);
  expect(scoreOf("rotation of rotations by night").score).toBeGreaterThan(score);
  expect(scoreOf("rotatoin of keys by night").score).toBeLessThan(0.8 * score);
});

test("a text without spaces is as long as its characters are many", () => {
  const pair = { kind: "run", text: "缓存" } as const;
  const condition = { kind: "word", lexeme: "part 缓存" } as const;
  const scoreOf = similarity([{ word: pair, condition, isComplete: true, share: 0, rarity: 1 }], []);
  expect(scoreOf("列表缓存十分钟").score).toBeGreaterThan(1.5 * scoreOf(`列表缓存${"十分钟".repeat(100)}`).score);
});

const word = fc.stringMatching(/^[a-f]{4,9}$/);

test("a letter changed, left out, added or in the other's place is a slip, wherever it is", () => {
  const slip = fc.tuple(word, fc.nat(), fc.constantFrom(..."abcdefz"));
  fc.assert(
    fc.property(slip, ([wanted, place, letter]) => {
      const at = place % wanted.length;
      const [before, behind] = [wanted.slice(0, at), wanted.slice(at + 1)];
      const swapped = `${before}${behind.slice(0, 1)}${wanted[at]}${behind.slice(1)}`;
      for (const present of [before + letter + behind, before + behind, before + letter + wanted.slice(at), swapped]) {
        expect(like(wanted, present), `${wanted} ${present}`).toBeGreaterThan(0.5);
      }
    }),
  );
});

test("what has a word in it, or begins as it does, is like it, whatever letters it has besides", () => {
  fc.assert(
    fc.property(word, word, word, (wanted, before, behind) => {
      for (const present of [wanted + behind, before + wanted, before + wanted + behind]) {
        expect(like(wanted, present), present).toBeGreaterThan(0.5);
      }
      expect(like(`uvwxyz${wanted}`, wanted), wanted).toBeGreaterThan(0.5);
      expect(like(`${wanted}${wanted}uvw`, `${wanted}${wanted}xyz`), wanted).toBeGreaterThan(0.5);
    }),
  );
});

test("b83: words of a million letters are compared in a number of steps that grows with them", () => {
  const a = "a".repeat(500_000);
  expect(like(`b${a}c${a}d`, `c${a}d${a}b`)).toBe(0);
  expect(like(`b${a}c${a}d`, `b${a}d${a}d`)).toBeGreaterThan(0.5);
});
