import fc from "fast-check";
import { expect, test } from "vitest";
import { lastReplacements } from "../../../memory/rules/replacement.ts";

const last = (...steps: [string, string][]) => Object.fromEntries(lastReplacements(new Map(steps)));

test("what is replaced is replaced by the end of its chain", () => {
  expect(last(["old", "new"])).toEqual({ old: "new" });
  expect(last(["c", "b"], ["b", "a"])).toEqual({ b: "a", c: "a" });
  expect(last(["x", "a"], ["c", "b"], ["b", "a"])).toEqual({ x: "a", b: "a", c: "a" });
});

test("atoms that replace one another in a circle are all present, and a chain ends at the first of them", () => {
  expect(last(["a", "a"])).toEqual({});
  expect(last(["a", "b"], ["b", "a"])).toEqual({});
  expect(last(["x", "w"], ["w", "b"], ["a", "b"], ["b", "c"], ["c", "a"])).toEqual({ x: "b", w: "b" });
});

test("whatever replaces whatever, no atom is replaced by one that is replaced itself, and each walk ends", () => {
  const id = fc.integer({ min: 0, max: 12 }).map(String);
  fc.assert(
    fc.property(fc.array(fc.tuple(id, id)), (steps) => {
      const replacedBy = new Map(steps);
      const found = lastReplacements(replacedBy);
      for (const [old, by] of found) {
        expect(replacedBy.has(old)).toBe(true);
        expect(found.has(by)).toBe(false);
        expect(walkFrom(replacedBy, old)).toContain(by);
      }
      // What is not replaced has nothing that replaces it, or is in a circle.
      for (const old of replacedBy.keys()) expect(found.has(old)).toBe(!walkFrom(replacedBy, old).has(old));
    }),
  );
});

/** All that replaces an atom, step by step. */
function walkFrom(replacedBy: ReadonlyMap<string, string>, id: string): ReadonlySet<string> {
  const walk = new Set<string>();
  let at = replacedBy.get(id);
  while (at !== undefined && !walk.has(at)) {
    walk.add(at);
    at = replacedBy.get(at);
  }
  return walk;
}
