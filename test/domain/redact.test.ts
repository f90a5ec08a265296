import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { mintKey } from "../../domain/key/secret/key-format.ts";
import { beginningOfKey, containsKey, containsWholeKey, mayContainKey, redactKeys } from "../../domain/redact.ts";

const KEYS = [mintKey(randomBytes), `inf_${randomUUID()}`, `inf_${randomBytes(30).toString("base64")}`];

describe("a text with a key", () => {
  test.each<[string, (key: string) => string]>([
    ["as it is", (key) => key],
    ["with its underscore encoded", (key) => key.replace("_", "%5f")],
    ["with a letter that is encoded twice", (key) => key.replace("i", "%2569")],
    ["with an escape of four digits", (key) => key.replace("_", "%u005F")],
    ["behind a broken escape", (key) => `100% ${key.replace("_", "%5F")}`],
    ["that is encoded too often to know", () => `%${"25".repeat(9)}41`],
  ])("b389: is known, %s", (_what, written) => {
    for (const key of KEYS) {
      const found = [containsKey, containsWholeKey, mayContainKey].map((isIn) => isIn(`Bearer ${written(key)}`));
      expect(found).toEqual([true, true, true]);
    }
  });

  test("b216: shows the beginning of the key, encoded too", () => {
    for (const key of KEYS) {
      expect(beginningOfKey(`k=${key.replace("_", "%5F")}`)).toBe(key.slice(0, 13));
      expect(redactKeys(`k=${key}`)).toBe("k=inf_...");
    }
  });

  test("is shown with the prefix that names another key, and no more of any", () => {
    expect(redactKeys("The key inf_AbCdEfGh lacks it.")).toBe("The key inf_AbCdEfGh lacks it.");
    for (const more of ["inf_AbCdEfGh1", "inf_AbCdEfGh.1", "inf_AbCd-fGh"]) expect(redactKeys(more)).toBe("inf_...");
  });
});

test.each([
  ["a prefix", "inf_AbCdEfGh"],
  ["a prefix among parameters", "q=inf_AbCdEfGh&state=active&sort=last-used-in-descending-order"],
  ["a name with its value", "inf_session=8c1f8a5e-7a55-4c43-9c52-0f0f3b1c6c55"],
  ["another word that ends as a key begins", "userinf_0123456789abcdef0123456789abcdef"],
])("b389: %s is no whole key", (_what, text) => {
  expect([text, encodeURIComponent(text)].map(containsWholeKey)).toEqual([false, false]);
});

test("a text without the beginning of a key has none", () => {
  for (const text of ["100%", "a%20b", "information_of_a_kind", ""]) {
    expect([containsKey, containsWholeKey, mayContainKey].map((isIn) => isIn(text))).toEqual([false, false, false]);
    expect(beginningOfKey(text)).toBeUndefined();
  }
});
