import fc from "fast-check";
import { expect, test } from "vitest";
import { type ReplaceableMatch, replacedLast } from "../../../../../memory/store/search/ranking/replaced-last.ts";

function atom(id: string, more: Partial<ReplaceableMatch> = {}): ReplaceableMatch {
  return { id, closeness: 1, match: "nearest", ...more };
}
const old = (id: string, replacedBy: string, more: Partial<ReplaceableMatch> = {}) => atom(id, { replacedBy, ...more });
const ordered = (...atoms: ReplaceableMatch[]) => replacedLast(atoms).map(({ id }) => id);

test("what replaces an atom takes its place, and what is replaced stands behind all that answers as well", () => {
  expect(ordered(old("old", "new"), atom("x"), atom("new", { closeness: 0.1 }), atom("y", { closeness: 0.5 }))).toEqual(
    [...["new", "x", "y", "old"]],
  );
  expect(ordered(atom("new"), old("old", "new"), atom("x"))).toEqual(["new", "x", "old"]);
  expect(ordered(atom("x"), old("one", "new"), old("two", "new"), atom("new"))).toEqual(["x", "new", "one", "two"]);
});

test("what is replaced stays before what answers less well", () => {
  const weak = atom("weak", { closeness: 0.25 });
  expect(ordered(old("old", "new"), atom("new"), weak)).toEqual(["new", "old", "weak"]);
  const exact = { match: "words" };
  expect(ordered(old("old", "new", exact), atom("new", exact), atom("similar", { match: "similar" }))).toEqual([
    ...["new", "old", "similar"],
  ]);
});

test("what is replaced by an atom that is not in the answer keeps its place", () => {
  expect(ordered(old("old", "elsewhere"), atom("x"))).toEqual(["old", "x"]);
});

test("none is lost and none is there twice, what replaces stands before, and the others keep their order", () => {
  const place = fc.record({
    closeness: fc.double({ min: 0, max: 2, noNaN: true }),
    match: fc.constantFrom("words", "similar", "nearest"),
    by: fc.option(fc.nat(70), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(place, { maxLength: 70 }), (places) => {
      // As the end of a chain has it: nothing is replaced by what is replaced itself.
      const atoms = places.map(({ by, ...rest }, at) => {
        const isEnd = by !== undefined && places[by]?.by === undefined;
        return { ...rest, id: `${at}`, ...(isEnd && { replacedBy: `${by}` }) };
      });
      const ids = replacedLast(atoms).map(({ id }) => id);
      expect(ids.toSorted()).toEqual(atoms.map(({ id }) => id).toSorted());
      const first = new Set(atoms.slice(0, 50).map(({ id }) => id));
      for (const { id, replacedBy } of atoms.slice(0, 50)) {
        if (replacedBy !== undefined && first.has(replacedBy)) {
          expect(ids.indexOf(replacedBy)).toBeLessThan(ids.indexOf(id));
        }
      }
      const named = new Set(atoms.flatMap(({ id, replacedBy }) => (replacedBy === undefined ? [] : [id, replacedBy])));
      const others = atoms.map(({ id }) => id).filter((id) => !named.has(id));
      expect(ids.filter((id) => !named.has(id))).toEqual(others);
    }),
  );
});
