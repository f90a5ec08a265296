import fc from "fast-check";
import { expect, test } from "vitest";
import { validFirst } from "../../../../../memory/store/search/ranking/valid-first.ts";

const atom = (id: string, isValid: boolean, closeness = 1) => ({
  ...{ id, isValid, closeness },
  ...{ updatedMs: 0, match: "nearest", text: "" },
});
const ids = (atoms: readonly { id: string }[]) => atoms.map(({ id }) => id).join("");

test.each([
  ["one that is over comes behind those that are true", [atom("a", false), atom("b", true), atom("c", true)], "bca"],
  ["those that are over keep their order", [atom("a", false), atom("b", false), atom("c", true)], "cab"],
  ["one that is true keeps its place", [atom("a", true), atom("b", false), atom("c", true)], "acb"],
  ["what answers less gives way to none", [atom("a", false), atom("b", true, 0.9), atom("c", true, 0.25)], "bac"],
  ["where all are over, all stay", [atom("a", false), atom("b", false)], "ab"],
])("%s", (_what, placed, expected) => {
  expect(ids(validFirst(placed))).toBe(expected);
});

test("each atom is there once, and those that are true keep their order", () => {
  const placed = fc.array(fc.record({ isValid: fc.boolean(), closeness: fc.double({ min: 0, max: 2, noNaN: true }) }));
  fc.assert(
    fc.property(placed, (given) => {
      const atoms = given.map(({ isValid, closeness }, at) => ({ ...atom(`${at}`, isValid, closeness), at }));
      const ordered = validFirst(atoms);
      expect(ordered.toSorted((a, b) => a.at - b.at)).toEqual(atoms);
      expect(ordered.filter(({ isValid }) => isValid)).toEqual(atoms.filter(({ isValid }) => isValid));
    }),
  );
});
