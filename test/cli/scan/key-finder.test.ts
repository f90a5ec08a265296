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

const base64 = (text: string) => Buffer.from(text).toString("base64");
const inLines = (text: string, width: number, end: string) =>
  text.replace(new RegExp(`.{${width}}(?=.)`, "g"), `$&${end}`);
const SECRET = { kind: "Secret", data: { "api-key": base64(KEY) } };

describe("b316: keys in base64", () => {
  test.each<[string, string]>([
    ["a Secret", `data:\n  api-key: ${base64(KEY)}\n`],
    ["a Secret as JSON", JSON.stringify(SECRET)],
    ["a Secret within an annotation", JSON.stringify({ annotations: { applied: JSON.stringify(SECRET) } })],
    ["a header", `Authorization: Basic ${base64(`x:${KEY}`)}`],
    ["a header of another user", `-H 'authorization: basic ${base64(`${KEY}:`)}'`],
    ["the alphabet of URLs", Buffer.from(`ÿÿ?>${KEY}ÿ?>`).toString("base64url")],
    ["a file with more", `  .env: ${base64(`A=ü\nKEYPLANE_API_KEY=${KEY}\nB=1\n`)}`],
    ["lines as base64 breaks them", inLines(base64(`${"x".repeat(60)}${KEY}`), 76, "\n")],
    ["short lines that are indented", `key: |\n    ${inLines(base64(`x${KEY}`), 7, "\r\n    ")}`],
    ["lines that are escaped", inLines(base64(`xy${KEY}`), 5, "\\n")],
    ["a mark before slashes", base64(`ÿÿÿ${KEY}ÿÿÿ`).replaceAll("/", "\\/")],
    ["a header in a file of a Secret", base64(`Authorization: Basic ${base64(`name:${KEY}`)}`)],
    ["lines, twice", inLines(base64(`a\n${inLines(base64(`xy${KEY}`), 64, "\n")}`), 76, "\n  ")],
  ])("are found in %s", async (_what, text) => {
    for (const size of [undefined, 1, 100]) {
      const found = await find(Buffer.from(text), size);
      expect(found).toEqual([expect.objectContaining({ prefix: KEY.slice(0, 12), sha256: at(1, 1).sha256 })]);
    }
  });

  test("are found wherever they stand in what is encoded, once or twice, at the place where each begins", async () => {
    for (let before = 0; before < 12; before++) {
      for (const text of [base64("x".repeat(before) + KEY), base64(base64(`${"x".repeat(before)}${KEY} and more`))]) {
        const [found, ...others] = await find(Buffer.from(`\n ${text} ${OTHER}`));
        expect([before, found?.sha256, found?.line, others.length]).toEqual([before, at(1, 1).sha256, 2, 1]);
      }
    }
    expect(await find(Buffer.from(`\n  api-key: ${base64(KEY)}`))).toEqual([at(2, 12)]);
  });

  test("are none with a wrong checksum, or cut off", async () => {
    const mistyped = KEY.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const texts = [base64(mistyped), base64(KEY).slice(0, 80), base64(`inf_${"x".repeat(60)}`), "aW5mX".repeat(99)];
    // Lines of base64 go on in the next one: these must not.
    expect(await find(Buffer.from(texts.join("\n!\n")))).toEqual([]);
  });
});

describe("c101: keys in UTF-16", () => {
  const little = Buffer.from(`\uFEFFA=ü\r\n  key: ${KEY}\r\n${base64(`Bearer ${OTHER}`)}\n`, "utf16le");
  const big = Buffer.from(little).swap16();
  test.each([
    ["of little-endian", little],
    ["of big-endian", big],
    ["without a mark", little.subarray(2)],
  ])("%s are found once each, wherever a chunk ends", async (_, bytes) => {
    for (const size of [undefined, 1, 2, 99]) {
      const found = await find(bytes, size);
      expect([size, found.map(({ line, sha256 }) => [line, sha256])]).toEqual([
        size,
        [
          [2, at(1, 1).sha256],
          [3, at(1, 1, OTHER).sha256],
        ],
      ]);
    }
  });

  test("are found behind bytes of another kind, and plain keys beside them", async () => {
    const bytes = Buffer.concat([randomBytes(2_001), Buffer.from(KEY, "utf16le"), Buffer.from(`\0 ${OTHER}`)]);
    const found = await find(bytes, 700);
    expect(found.map(({ sha256 }) => sha256)).toEqual([at(1, 1).sha256, at(1, 1, OTHER).sha256]);
  });
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
