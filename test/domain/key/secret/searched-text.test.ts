import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { mintKey } from "../../../../domain/key/secret/key-format.ts";
import { searchedText } from "../../../../domain/key/secret/searched-text.ts";

describe("a text to look for", () => {
  test("b216: is the prefix of a minted key that is in it, wherever spaces break it", () => {
    const key = mintKey(randomBytes);
    for (const space of [" ", "\n", "\r\n    ", "\u00a0", "\u200b"]) {
      for (let at = 1; at < key.length; at++) {
        const pasted = `Bearer ${key.slice(0, at)}${space}${key.slice(at)}`;
        expect(searchedText(pasted)).toBe(key.slice(0, 12));
      }
      expect(searchedText([...key].join(space))).toBe(key.slice(0, 12));
    }
  });

  test("b216: is as it was written where it has no key, also of a prefix and many words behind it", () => {
    for (const text of [
      "inf_",
      "inf_AbCd whom did the team payments give this key to before it went to production in the last week of May",
      "inf_AbCdEfGh 0123456789012345678901234567890123456789012345678901234567890",
      "winf_ Lieferbedingungen und Zahlungsvereinbarungen der Donaudampfschifffahrtsgesellschaft vom Vorjahr",
    ]) {
      expect(searchedText(text)).toBe(text);
    }
  });
});
