import { array, assert, constantFrom, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CredentialMask,
  holdsCredential,
  maskHeader,
  maskWhole,
  needleOf,
} from "../../../../server/gateway/headers/credential-mask.ts";
import { leastOfFive, threadCpuTimeOf } from "../../../env/cpu-time.ts";
import { examples } from "../../../env/nightly.ts";

/** Bytes of the largest piece that an upstream's answer comes in. */
const PIECE = 65_536;
const LONGEST = 4_096;

const letters = (least: number, most: number) =>
  array(constantFrom("a", "*"), { minLength: least, maxLength: most }).map((all) => all.join(""));

describe("a credential in an answer", () => {
  it("b40: is taken out wherever it stands, and however it is cut into pieces", () => {
    assert(
      property(letters(8, 40), letters(0, 400), array(integer({ min: 1, max: 50 })), (credential, answer, cuts) => {
        const needle = needleOf(credential);
        const expected = answer.replaceAll(credential, "*".repeat(credential.length));
        expect(maskWhole(needle, Buffer.from(answer)).toString()).toBe(expected);
        expect(maskHeader(needle, answer)).toBe(expected);
        const mask = new CredentialMask(needle);
        const pieces: Buffer[] = [];
        for (let from = 0, i = 0; from < answer.length; i++) {
          const to = from + (cuts[i % cuts.length] ?? 1);
          pieces.push(mask.push(Buffer.from(answer.slice(from, to))));
          from = to;
        }
        expect(Buffer.concat([...pieces, mask.flush()]).toString()).toBe(expected);
      }),
      { numRuns: examples(500) },
    );
  });

  it.each([
    ["as PHP writes it", (text: string) => text.replaceAll("/", "\\/")],
    ["as .NET writes it", (text: string) => text.replace(/[+&]/g, (one) => (one === "+" ? "\\u002B" : "\\u0026"))],
    ["as Gson writes it", (text: string) => text.replaceAll("=", "\\u003d").replaceAll("&", "\\u0026")],
    ["in a URL", encodeURIComponent],
    ["as it is", (text: string) => text],
  ])("b418: is not to be read in an answer %s, however it is cut into pieces", (_, write) => {
    const [id, secret] = ["account.of-a-team_1", "0123456789abcdefghij"];
    const credential = `${id}/+${secret}&=`;
    const answer = `{"sent":"${write(credential)}","again":"${write(`${id}/+`)}${write(credential)}"} ${id.slice(1)}`;
    const needle = needleOf(credential);
    const masked = maskWhole(needle, Buffer.from(answer)).toString();
    for (const hidden of [credential, id, secret]) expect(masked).not.toContain(hidden);
    expect(masked).toHaveLength(answer.length);
    expect(masked.replace(/[*]+/g, "")).not.toContain("0123");
    expect(masked).toMatch(/"again".* ccount.of-a-team_1$/);
    expect(maskHeader(needle, answer)).toBe(masked);
    expect(holdsCredential(needle, answer)).toBe(true);
    expect(maskHeader(needle, write(secret))).toBe("*".repeat(secret.length));
    for (let size = 1; size < 60; size++) {
      const mask = new CredentialMask(needle);
      const pieces: Buffer[] = [];
      for (let at = 0; at < answer.length; at += size) pieces.push(mask.push(Buffer.from(answer.slice(at, at + size))));
      expect(Buffer.concat([...pieces, mask.flush()]).toString()).toBe(masked);
    }
  });

  it("b418: has a text of 15 characters that it shares with an answer left as it is", () => {
    const needle = needleOf("abcdefghijklmno/0123456789abcdef");
    expect(maskHeader(needle, "abcdefghijklmno\\/0123456789abcdef")).toBe(`abcdefghijklmno\\/${"*".repeat(16)}`);
  });

  it.each([
    ["a beginning that never comes", `b${"a".repeat(LONGEST - 1)}`],
    ["an end that never comes", `${"a".repeat(LONGEST - 1)}b`],
    ["a middle that never comes", `${"a".repeat(LONGEST / 2)}b${"a".repeat(LONGEST / 2 - 1)}`],
    ["many parts", Array.from({ length: LONGEST / 32 }, (_, at) => `${"a".repeat(31 - (at % 8))}b`).join("/")],
  ])("b248: is looked for in a time that grows with the answer alone, by one with %s", async (_, credential) => {
    const needle = needleOf(credential);
    const piece = Buffer.alloc(PIECE, "a");
    const took = await leastOfFive(200, () => {
      const mask = new CredentialMask(needle);
      return threadCpuTimeOf(() => {
        for (let n = 0; n < 8; n++) mask.push(piece);
        maskWhole(needle, piece);
        maskHeader(needle, "a".repeat(16_000));
      });
    });
    // By the platform's search alone it is hundreds for a piece.
    expect(took).toBeLessThan(200);
  });

  it.each([
    ["an end that does not come", `${"a".repeat(LONGEST - 1)}b`, "a"],
    ["asterisks of its own, which do not go on", `${"*".repeat(LONGEST - 1)}b`, "*"],
    ["asterisks of its own, which end", `${"*".repeat(LONGEST - 1)}b`, "b"],
  ])("b273: is looked for as fast where each piece is a byte, by one with %s", async (_, credential, byte) => {
    const piece = Buffer.from(byte);
    const took = await leastOfFive(50, () => {
      const mask = new CredentialMask(needleOf(credential));
      mask.push(Buffer.from(credential.slice(0, -1)));
      // As many as come at once: with its length, a byte is six.
      return threadCpuTimeOf(() => {
        for (let n = 0; n < PIECE / 6; n++) mask.push(piece);
      });
    });
    expect(took).toBeLessThan(50);
  });
});
