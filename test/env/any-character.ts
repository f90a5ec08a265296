import fc from "fast-check";

const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any character of Unicode: as the unit of a string what fast-check calls `binary`, whose making takes two seconds of
 * each process.
 */
export const ANY_CHARACTER = fc.nat(0x10ffff - SURROGATES.count).map(
  (n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count),
  (character) => {
    const point = typeof character === "string" ? character.codePointAt(0) : undefined;
    if (point === undefined || String.fromCodePoint(point) !== character) throw new Error("no single character");
    return point < SURROGATES.first ? point : point - SURROGATES.count;
  },
);
