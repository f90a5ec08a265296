import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_PASSAGE, MAX_PASSAGES, passagesOf } from "../../domain/passages.ts";

/** The longest that an atom's text is: of characters that count as two. */
const LONGEST = "🙂".repeat(65_536);

describe("the passages of a text", () => {
  test("are the text itself where it is no longer than one", () => {
    expect(passagesOf("a")).toEqual(["a"]);
    expect(passagesOf("a".repeat(MAX_PASSAGE))).toHaveLength(1);
    expect(passagesOf("a".repeat(MAX_PASSAGE + 1))).toHaveLength(2);
  });

  test("end with a paragraph where one ends nearby, else with a line, a sentence or a word", () => {
    const around = (end: string) => `${"word ".repeat(300)}last${end}${"next ".repeat(300)}`;
    for (const end of [".\n\n", "\n", ". ", "。"]) {
      const [first = "", second = ""] = passagesOf(around(end));
      expect(first.endsWith(`last${end}`), JSON.stringify(end)).toBe(true);
      expect(second).toMatch(/^word .*last/);
    }
    const both = `${"word ".repeat(295)}of a line.\nOf a sentence. Last.\n\n${"next ".repeat(295)}`;
    expect(passagesOf(both)[0]).toMatch(/Last\.\n\n$/);
    expect(passagesOf("word ".repeat(500)).every((passage) => /^(word ?)+$/.test(passage.trimStart()))).toBe(true);
  });

  test("of the longest text are no more than their number, and cut no character in two", () => {
    for (const longest of [LONGEST, "word ".repeat(13_107), "x".repeat(65_536)]) {
      const passages = passagesOf(longest);
      expect(passages).toHaveLength(MAX_PASSAGES);
      expect(passages.every((passage) => passage.isWellFormed() && passage !== "")).toBe(true);
    }
  });

  test("together have all of any text, each of them within its length", () => {
    // No two of its places read alike.
    const units: ((n: number) => string)[] = [
      (n) => `${n} `,
      (n) => `Said ${n}. `,
      (n) => `${n}\n\n`,
      (n) => `語${n}語`,
    ];
    const piece = fc.tuple(fc.constantFrom(...units), fc.integer({ min: 1, max: 4_000 }));
    const anyText = fc.array(piece, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(anyText, (pieces) => {
        const text = pieces
          .flatMap(([unit, times], at) => Array.from({ length: times }, (_, n) => unit(10_000 * (at + 1) + n)))
          .join("")
          .slice(0, 65_536);
        const passages = passagesOf(text);
        expect(passages.length > 1).toBe(text.length > MAX_PASSAGE);
        expect(Math.max(...passages.map(({ length }) => length))).toBeLessThanOrEqual(MAX_PASSAGE);
        let to = 0;
        for (const passage of passages) {
          const at = text.indexOf(passage);
          expect(at >= 0 && at <= to && at + passage.length > to).toBe(true);
          to = at + passage.length;
        }
        expect(to).toBe(text.length);
      }),
      { numRuns: 50 },
    );
  });
});
