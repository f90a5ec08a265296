import { array, assert, constantFrom, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { CredentialMask, maskHeader, maskWhole, needleOf } from "../../../../server/gateway/headers/credential-mask.ts";
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
    ["a beginning that never comes", `b${"a".repeat(LONGEST - 1)}`],
    ["an end that never comes", `${"a".repeat(LONGEST - 1)}b`],
    ["a middle that never comes", `${"a".repeat(LONGEST / 2)}b${"a".repeat(LONGEST / 2 - 1)}`],
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
