import { expect, test } from "vitest";
import { stemsOf } from "../../../../../memory/store/search/words/stems.ts";

test.each([
  ["a word and its plural", "key", "keys"],
  ["a short word and its plural in capitals", "tool", "TOOLS"],
  ["forms that begin with the same five letters", "rotation", "rotated"],
  ["accents and none", "rôle", "role"],
  ["a word within an identifier", "getUserId user", "getuserid getUserId user"],
])("%s have one stem", (_what, one, other) => expect(stemsOf(other)).toEqual(stemsOf(one)));

test.each([
  ["a word with two s at its end", "pas", "pass"],
  ["a number", "10", "100"],
  ["a name with a digit", "p99", "p99s"],
  ["words of other letters", "ключ", "ключи"],
])("%s is no plural", (_what, one, other) => expect(stemsOf(other)).not.toEqual(stemsOf(one)));

test("of a script without spaces each pair of characters is a stem", () => {
  expect(stemsOf("缓存列表")).toEqual(new Set(["缓存", "存列", "列表"]));
});
