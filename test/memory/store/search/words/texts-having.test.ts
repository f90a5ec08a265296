import fc from "fast-check";
import { expect, test } from "vitest";
import { partsOf } from "../../../../../memory/store/search/words/folded-text.ts";
import { markedWords, wordsOfAtom } from "../../../../../memory/store/search/words/search-words.ts";
import { textsHaving } from "../../../../../memory/store/search/words/texts-having.ts";

test("parts are found in the texts that have them, in any script and within identifiers", () => {
  const text = fc.string({ unit: fc.constantFrom(..."abcXY 09._-éЖк漢字ハ안\n"), maxLength: 20 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 70 }), text, (texts, asked) => {
      const textsWith = textsHaving(texts);
      for (const part of [...texts.slice(0, 3), asked].flatMap(wordsOfAtom).flatMap(partsOf)) {
        const having = texts.map((each) => Number(markedWords(each).includes(part)));
        expect([...textsWith(part)], part).toEqual(having);
      }
    }),
  );
});
