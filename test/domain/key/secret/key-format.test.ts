import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checksum,
  KEY_LENGTH,
  keyDigest,
  keyPrefix,
  keyShape,
  MAX_KEY_LENGTH,
  mintKey,
  PREFIX_LENGTH,
} from "../../../../domain/key/secret/key-format.ts";
import { ANY_CHARACTER } from "../../../env/any-character.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const minted = fc.infiniteStream(fc.integer({ min: 0, max: 255 })).map((bytes) => mintKey(takeFrom(bytes)));

function takeFrom(bytes: IterableIterator<number>): (size: number) => Uint8Array {
  return (size) => Uint8Array.from({ length: size }, () => bytes.next().value ?? 0);
}

test("a minted key is inf_, 51 base62 characters and a checksum over the first 55", () => {
  const key = mintKey(randomBytes);
  expect(key).toMatch(/^inf_[0-9A-Za-z]{57}$/);
  expect(key).toHaveLength(KEY_LENGTH);
  expect(keyShape(key)).toBe("minted");
  expect(keyPrefix(key)).toBe(key.slice(0, PREFIX_LENGTH));
});

test("the checksum is zlib's CRC-32 in base62, most significant digit first, padded with 0", () => {
  // CRC-32 of "123456789" is 0xCBF43926 = 3421780262 (the check value of its catalogue).
  let number = 0;
  for (const digit of checksum("123456789")) number = number * 62 + ALPHABET.indexOf(digit);
  expect(number).toBe(0xcbf43926);
  expect(checksum("")).toBe("000000");
});

test("b15: whatever one character of a minted key is changed to, it is malformed", () => {
  const change = fc.tuple(minted, fc.integer({ min: 4, max: KEY_LENGTH - 1 }), fc.constantFrom(...ALPHABET));
  fc.assert(
    fc.property(change, ([key, at, character]) => {
      fc.pre(key[at] !== character);
      expect(keyShape(key.slice(0, at) + character + key.slice(at + 1))).toBe("malformed");
    }),
  );
});

describe("b17: near misses of a key are not that key", () => {
  const key = mintKey(randomBytes);
  test.each([
    ["truncated by one", key.slice(0, -1), "imported-format"],
    ["extended by one", `${key}0`, "imported-format"],
    ["the prefix alone", key.slice(0, PREFIX_LENGTH), "short"],
    ["upper case", key.toUpperCase(), "malformed"],
    ["a dash within", `${key.slice(0, 20)}-${key.slice(21)}`, "malformed"],
    ["an underscore within", `${key.slice(0, 20)}_${key.slice(21)}`, "malformed"],
    ["another scheme", `sk-_${key.slice(4)}`, "malformed"],
    ["nothing behind inf_", "inf_", "malformed"],
    ["empty", "", "malformed"],
  ])("%s", (_name, text, shape) => {
    expect(keyShape(text)).toBe(shape);
    expect(keyDigest(text)).not.toBe(keyDigest(key));
  });
});

test("b9: controls, spaces, commas, quotes and anything beyond ASCII make a credential malformed", () => {
  for (const bad of ["\0", "\r", "\n", "\t", " ", ",", '"', "\x7f", "\x85", "\xff", "\u200d", "\uff49", "\u0130"]) {
    expect(keyShape(`inf_imported${bad}key`)).toBe("malformed");
    const key = mintKey(randomBytes);
    expect(keyShape(key + bad)).toBe("malformed");
    expect(keyShape(bad + key)).toBe("malformed");
  }
  expect(keyShape("\uff49nf_imported-key")).toBe("malformed");
});

test("an imported key may have any visible characters, up to the bound", () => {
  expect(keyShape("inf_imported.key:with/other~characters-of-its-own")).toBe("imported-format");
  expect(keyShape(`inf_${"x".repeat(MAX_KEY_LENGTH - 4)}`)).toBe("imported-format");
  expect(keyShape(`inf_${"x".repeat(MAX_KEY_LENGTH - 3)}`)).toBe("malformed");
});

test("b90: another shape of fewer than 32 characters behind inf_ is no imported key's", () => {
  expect(keyShape(`inf_${"x".repeat(31)}`)).toBe("short");
  expect(keyShape(`inf_${"x".repeat(32)}`)).toBe("imported-format");
  expect(keyShape("inf_x")).toBe("short");
  expect(keyShape(`inf_${"x".repeat(30)} `)).toBe("malformed");
});

test("no text makes the classification throw, and only inf_ begins a key", () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY_CHARACTER }), (text) => {
      expect(keyShape(text)).toBe(text.startsWith("inf_") ? keyShape(text) : "malformed");
    }),
  );
});

test("the digest is SHA-256 as 32 latin1 characters", () => {
  expect(Buffer.from(keyDigest("abc"), "latin1").toString("hex")).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

describe("b20: the generator", () => {
  test("gives every base62 character at every place with equal probability", () => {
    const keys = 20_000;
    const counts = Array.from({ length: 51 }, () => new Uint32Array(62));
    const total = new Uint32Array(62);
    for (let i = 0; i < keys; i++) {
      const key = mintKey(randomBytes);
      for (let at = 0; at < 51; at++) {
        const digit = ALPHABET.indexOf(key.charAt(at + 4));
        const row = counts[at] ?? total;
        row[digit] = (row[digit] ?? 0) + 1;
        total[digit] = (total[digit] ?? 0) + 1;
      }
    }
    // Chi-squared with 61 degrees of freedom: 150 is passed by chance less than once in 10^8 tries. `byte % 62` without
    // rejection gives eight characters 25 % more, and a figure in the tens of thousands over all places.
    expect(chiSquared(total, keys * 51)).toBeLessThan(150);
    for (const row of counts) expect(chiSquared(row, keys)).toBeLessThan(150);
  });

  test("carries 256 bits in the secret part: every place has its own byte, every character the same number of bytes", () => {
    expect(43 * Math.log2(62)).toBeGreaterThan(256);
    const given = Uint8Array.from({ length: 51 }, (_, at) => at);
    expect(mintKey(() => given).slice(4, 55)).toBe(ALPHABET.slice(0, 51));
    const bytesOf = new Map<string, number>();
    for (let byte = 0; byte < 248; byte++) {
      const character = mintKey((size) => new Uint8Array(size).fill(byte)).charAt(20);
      bytesOf.set(character, (bytesOf.get(character) ?? 0) + 1);
    }
    expect([...bytesOf.keys()].sort().join("")).toBe(ALPHABET);
    expect(new Set(bytesOf.values())).toEqual(new Set([4]));
  });

  test("drops the bytes that would favour some characters, and asks for more", () => {
    const chunks = [new Uint8Array(51).fill(255), new Uint8Array(51).fill(61)];
    const sizes: number[] = [];
    const key = mintKey((size) => {
      sizes.push(size);
      return chunks.shift() ?? new Uint8Array(size);
    });
    expect(key.slice(4, 55)).toBe("z".repeat(51));
    expect(sizes).toHaveLength(2);
  });

  test("never gives the same key twice", () => {
    const keys = new Set(Array.from({ length: 10_000 }, () => mintKey(randomBytes)));
    expect(keys.size).toBe(10_000);
  });
});

function chiSquared(counts: Uint32Array, total: number): number {
  const expected = total / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}
