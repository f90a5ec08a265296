import { expect, test } from "vitest";
import { nameSome } from "../../domain/name-some.ts";

test.each([
  [[], ""],
  [["a"], "a"],
  [["a", "b"], "a, b"],
  [["a", "b", "c", "d"], "a, b and 2 more"],
])("the names %j, of which two are shown, are %j", (names, text) => {
  expect(nameSome(names, 2)).toBe(text);
});
