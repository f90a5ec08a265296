import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { scanForKeys } from "../../../cli/scan/key-finder.ts";
import { mintKey } from "../../../domain/key/secret/key-format.ts";

const KEY = mintKey(randomBytes);
const OTHER = mintKey(randomBytes);

/** What is found in bytes that come in pieces of this size. */
async function find(bytes: Buffer, size = bytes.length || 1) {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return Array.fromAsync(scanForKeys(chunks()));
}

const at = (line: number, column: number, key = KEY) => ({
  ...{ line, column, prefix: key.slice(0, 12) },
  sha256: createHash("sha256").update(key).digest("hex"),
});

describe("keys in bytes", () => {
  test("are found wherever one chunk ends and the next begins", async () => {
    const bytes = Buffer.from(`a\n\n  ${KEY}\nü ${KEY}${OTHER}x\n${OTHER}`);
    const expected = [at(3, 3), at(4, 4), at(4, 65, OTHER), at(5, 1, OTHER)];
    for (let size = 1; size <= bytes.length; size++) expect([size, await find(bytes, size)]).toEqual([size, expected]);
  });

  test("are found in binary, in the middle of other characters, and behind what only begins like one", async () => {
    const bytes = Buffer.concat([
      randomBytes(5_000),
      Buffer.from(`inf_inf_inf_abc${KEY}${KEY.slice(56)}\0`),
      randomBytes(99),
    ]);
    for (const size of [7, 61, 64, 5_100]) {
      const found = await find(bytes, size);
      expect(found).toEqual([expect.objectContaining({ prefix: KEY.slice(0, 12), sha256: at(1, 1).sha256 })]);
    }
  });

  test("are none with a wrong checksum, cut off, or of another shape", async () => {
    const mistyped = KEY.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    expect(
      await find(Buffer.from([mistyped, KEY.slice(0, 60), `inf_${"x".repeat(60)}`, KEY.toUpperCase()].join("\n"))),
    ).toEqual([]);
    expect(await find(Buffer.alloc(0))).toEqual([]);
  });

  test("are found at their places behind many chunks without one", async () => {
    async function* chunks() {
      for (let i = 0; i < 200; i++) yield Buffer.from(i === 150 ? `\n ${KEY}` : "x".repeat(1_000));
    }
    expect(await Array.fromAsync(scanForKeys(chunks()))).toEqual([at(2, 2)]);
  });
});
