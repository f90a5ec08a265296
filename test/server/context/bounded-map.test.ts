import { expect, test } from "vitest";
import { keepNewest } from "../../../server/context/bounded-map.ts";

/** The names that are kept, the oldest first, where so many may be. */
function keptOf(names: readonly string[], most: number): string[] {
  const map = new Map<string, number>();
  for (const [at, name] of names.entries()) keepNewest(map, name, at, most);
  return [...map.keys()];
}

test("A bounded map keeps as many as it may, and drops what has been there longest for one more", () => {
  expect(keptOf(["a", "b", "c"], 3)).toEqual(["a", "b", "c"]);
  expect(keptOf(["a", "b", "c", "d"], 3)).toEqual(["b", "c", "d"]);
});

test("A bounded map takes what is added again for new", () => {
  expect(keptOf(["a", "b", "a"], 2)).toEqual(["b", "a"]);
  expect(keptOf(["a", "b", "a", "c"], 2)).toEqual(["a", "c"]);
});
