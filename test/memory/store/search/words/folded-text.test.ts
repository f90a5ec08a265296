import { sql } from "kysely";
import { expect, test } from "vitest";
import { foldText, identifierWords, partsOf, wordsOf } from "../../../../../memory/store/search/words/folded-text.ts";
import { describeNightlyOnEachEngine } from "../../../../env/database/engines.ts";

test("folding takes case, accents, widths and letters of other keyboards away", () => {
  expect(foldText("ÜBER Größe Łódź Ødegård Ёлка ＦＡＸ ﾌﾟﾘﾝﾀｰ ﬁn ΣΟΦΌΣ 한글 が")).toBe(
    "uber grosse lodz odegard елка fax プリンター fin σοφοσ 한글 が",
  );
});

test.each([
  ["مُحَمَّد", "محمد"],
  ["مَحْمُود", "محمود"],
  ["كتـــاب", "كتاب"],
  ["قیمت", "قيمت"],
  ["کتاب", "كتاب"],
  ["١٢٣٤", "1234"],
  ["۵۶۷۸", "5678"],
  ["४२ ๑๒ ４２", "42 12 42"],
  ["שָׁרָה", "שרה"],
])("folding takes points away and reads digits and letters of all keyboards: %s is %s", (written, sought) => {
  expect(foldText(written)).toBe(sought);
});

test.each([
  ["राम का बल", "राम का बिल"],
  ["ป้า", "ป่า"],
])("folding keeps the marks that make another word: %s is not %s", (one, other) => {
  expect(foldText(one)).not.toBe(foldText(other));
});

test("words are parted at what is no letter or digit, and where a script without spaces begins", () => {
  expect(wordsOf("API密钥, «Канада»: a_b/c.d×2…ログ・収集").map(({ text }) => text)).toEqual([
    ..."api 密钥 канада a b c d 2 ログ 収集".split(" "),
  ]);
});

/** Each mark belongs before all of the first half. */
function marks(count: number): string {
  return `a${"\u0301".repeat(count / 2)}${"\u0323".repeat(count / 2)} \u05d0${"\u05b7".repeat(count / 2)}${"\u05b0".repeat(count / 2)}`;
}

test("b83: letters with a million marks are folded in a number of steps that grows with them", () => {
  expect(wordsOf(marks(1_000_000))[0]).toEqual({ kind: "word", text: "a" });
});

test("b83: the words in a long identifier are found in a number of steps that grows with it", () => {
  const long = "a".repeat(1_000_000);
  expect(identifierWords(`getUserId ${long}`).map(({ text }) => text)).toEqual(["get", "user", "id"]);
});

/** Half a character, or one that Node knows and not every PostgreSQL: of Unicode 17. */
function isLeftOut(code: number): boolean {
  return (code >= 0xd800 && code <= 0xdfff) || code === 0xa7f1;
}

describeNightlyOnEachEngine("text that is searched", (opened) => {
  const database = async (text: string) => {
    const { rows } = await sql<{ folded: string; parts: string[] }>`
      select folded_text(${text}) as folded, tsvector_to_array(text_parts(${text})) as parts`.execute(opened().db);
    return rows[0];
  };

  test("every character is folded, and taken for a part of a word, by the database as by the server", async () => {
    for (let from = 1; from < 0x1_0000; from += 0x800) {
      const codes = Array.from({ length: 0x800 }, (_, at) => from + at).filter((code) => !isLeftOut(code));
      const text = codes.map((code) => `${String.fromCodePoint(code)}\u0009`).join("");
      const parts = wordsOf(text)
        .flatMap(partsOf)
        .map((part) => `part ${part}`);
      const got = await database(text);
      expect(got?.folded, from.toString(16)).toBe(foldText(text));
      expect(new Set(got?.parts), from.toString(16)).toEqual(new Set(parts));
    }
  });

  test("parts are the same for words of any length, and where a run is long", async () => {
    for (const text of [
      "a",
      "ab",
      "abc",
      "Schlüsselrotation",
      "密",
      "密钥轮换",
      "x".repeat(39),
      "abcdefg".repeat(20),
    ]) {
      const parts = new Set(
        wordsOf(text)
          .flatMap(partsOf)
          .map((part) => `part ${part}`),
      );
      for (const part of parts) expect((await database(text))?.parts).toContain(part);
    }
    const run = Array.from({ length: 200 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join("");
    const got = (await database(run))?.parts;
    for (const part of wordsOf(run).flatMap(partsOf)) expect(got).toContain(`part ${part}`);
  });

  test("b87: letters with many marks are folded by the database in a number of steps that grows with them", async () => {
    const text = marks(200_000);
    expect((await database(text))?.folded).toBe(foldText(text));
  });

  test("b61: an atom of 65,536 characters of any script is stored", async () => {
    for (const [from, count] of [
      [0x61, 26],
      [0x430, 32],
      [0xe01, 46],
      [0x1000, 4_000],
      [0x4e00, 20_000],
      [0x20000, 40_000],
      [0xfdfa, 1],
      [0x3300, 200],
    ] as const) {
      let state = 1;
      const text = Array.from({ length: 65_536 }, () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return String.fromCodePoint(from + Math.floor((state / 2 ** 32) * count));
      }).join("");
      const { rows } = await sql<{ terms: number }>`
        select length(atom_parts('team', 'library', array_fill('t'::text, array[32]), ${text}, ${text.slice(0, 512)})) as terms`.execute(
        opened().db,
      );
      expect(rows[0]?.terms, from.toString(16)).toBeGreaterThan(0);
    }
  });
});
