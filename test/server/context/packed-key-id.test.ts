import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isImportedFormat,
  isSameId,
  packVersion,
  unpackKeyId,
  unpackVersion,
} from "../../../server/context/packed-key-id.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const keyId = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 20, maxLength: 20 }).map((id) => `key_${id}`);
const number = fc.nat({ max: 2 ** 21 - 1 });

describe("an id of ours with its version's number", () => {
  test("fits into four words, and comes back from them", () => {
    fc.assert(
      fc.property(keyId, number, fc.boolean(), (id, version, imported) => {
        const { first, second, third, last, whole } = packVersion(id, version, imported);
        expect(whole).toBe(true);
        expect(unpackKeyId(first, second, third, last)).toBe(id);
        expect([unpackVersion(last), isImportedFormat(last)]).toEqual([version, imported]);
      }),
    );
  });

  test("is kept in words that the engine keeps as small integers", () => {
    const { first, second, third, last } = packVersion(`key_${"7".repeat(20)}`, 2 ** 21 - 1, true);
    for (const word of [first, second, third]) expect(word).toBe(2 ** 30 - 1);
    expect(last).toBe(2 ** 32 - 1 - (last < 0 ? 2 ** 32 : 0));
  });

  test("is of the same id whatever the version and the format", () => {
    const id = `key_${"abcde".repeat(4)}`;
    const [one, two] = [packVersion(id, 1, false), packVersion(id, 2, true)];
    expect([one.first, one.second, one.third]).toEqual([two.first, two.second, two.third]);
    expect(isSameId(one.last, two.last)).toBe(true);
    expect(isSameId(one.last, packVersion(`key_${"abcde".repeat(3)}abcdf`, 1, false).last)).toBe(false);
  });
});

describe("an id of another shape, or a number out of range", () => {
  test.each([
    ["placeholder_1", 1],
    ["", 1],
    [`key_${"a".repeat(19)}`, 1],
    [`key_${"a".repeat(19)}A`, 1],
    [`key_${"a".repeat(19)}é`, 1],
    [`key_${"a".repeat(20)}`, 2 ** 21],
  ])("%j, version %i: is known by its hash, and its text is kept elsewhere", (id, version) => {
    const packed = packVersion(id, version, false);
    expect(packed.whole).toBe(false);
    expect(packVersion(id, version, false)).toEqual(packed);
    expect(packVersion(`${id} `, version, false)).not.toEqual(packed);
    for (const word of [packed.first, packed.second, packed.third]) expect(word).toBeLessThan(2 ** 30);
    expect(isImportedFormat(packVersion(id, version, true).last)).toBe(true);
  });
});
