import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import {
  isPlainSearch,
  parseSearch,
  partSearch,
  quoted,
  readSearch,
  searchExcept,
  spaced,
} from "../../../../../memory/store/search/words/search-words.ts";
import { describeNightlyOnEachEngine } from "../../../../env/database/engines.ts";
import { examples } from "../../../../env/nightly.ts";

const WORDS = ["kettle", "harbor", "lamp"];
/** Texts with each of the words, or without it, in two orders. */
const TEXTS = Array.from({ length: 16 }, (_, bits) => {
  const held = WORDS.filter((_, at) => bits & (1 << at));
  return (bits < 8 ? held : held.toReversed()).join(" ");
});

const word = fc.constantFrom(...WORDS);
const mark = fc.constantFrom("-", "--", "---", '"', "or", " or ", " or ", " ", " ", "|", "(", ")", "!", "<", ":", ",");
const query = fc.array(fc.oneof(word, mark), { minLength: 1, maxLength: 10 }).map((parts) => parts.join(""));

type Alternatives = ReturnType<typeof parseSearch>;

describeNightlyOnEachEngine("A search", (opened) => {
  /** Which of the texts a search finds. */
  const foundBy = async (asked: string): Promise<boolean[]> => {
    const { rows } = await sql<{ found: boolean }>`
      select to_tsvector('english', text) @@ websearch_to_tsquery('english', ${asked}) as found
      from unnest(${TEXTS}::text[]) with ordinality t (text, at) order by at`.execute(opened().db);
    return rows.map(({ found }) => found);
  };
  /** The same by the terms that were read in it: the database says of each by itself which texts have it. */
  const foundByTerms = async (alternatives: Alternatives): Promise<boolean[]> => {
    const terms = [...new Set(alternatives.flat().map(({ text }) => text))];
    const { rows } = await sql<{ has: boolean[] }>`
      select array(select to_tsvector('english', text) @@ phraseto_tsquery('english', term)
        from unnest(${terms}::text[]) with ordinality w (term, at) order by at) as has
      from unnest(${TEXTS}::text[]) with ordinality t (text, at) order by at`.execute(opened().db);
    return rows.map(({ has }) =>
      alternatives.some((all) => all.every(({ text, isExcluded }) => has[terms.indexOf(text)] !== isExcluded)),
    );
  };

  test("is read as the database reads it: words, phrases, or, and minus signs however many", async () => {
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        expect(await foundBy(asked)).toEqual(await foundByTerms(parseSearch(asked)));
      }),
      { numRuns: examples(300), examples: [['kettle" or  or ']] },
    );
  });

  test("finds nothing that it is read to exclude", async () => {
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const { excluded } = readSearch(asked);
        const hidden =
          excluded.length === 0 ? TEXTS.map(() => false) : await foundBy(excluded.map(quoted).join(" or "));
        const found = await foundBy(asked);
        expect(TEXTS.filter((_, at) => hidden[at] && found[at])).toEqual([]);
      }),
      { numRuns: examples(300) },
    );
  });

  test("for a text with exclusions beside it asks for the text's words, minus signs and all, and for nothing that is excluded", async () => {
    await fc.assert(
      fc.asyncProperty(query, fc.array(word, { maxLength: 2 }), async (asked, exclude) => {
        const printed = searchExcept(asked, exclude);
        const excluded = exclude.map((text) => ({ text, isPhrase: true, isExcluded: true }));
        const read = parseSearch(asked, "text");
        const wanted = (read.length === 0 ? [[]] : read).map((terms) => [...terms, ...excluded]);
        expect(await foundBy(printed)).toEqual(await foundByTerms(wanted.filter((terms) => terms.length > 0)));
      }),
      { numRuns: examples(300) },
    );
  });
});

test("one minus sign excludes, two are text, and three exclude", () => {
  const excludedBy = (asked: string) => readSearch(asked).excluded.map(quoted).join(" or ");
  expect(["-v", "--v", "---v", "- v", "a-v", "-", "--"].map(excludedBy)).toEqual(['"v"', "", '"v"', '"v"', "", "", ""]);
  expect(readSearch("--force push").wanted.map(({ text }) => text)).toEqual(["force", "push"]);
  expect(isPlainSearch("--force push")).toBe(true);
  expect(isPlainSearch("force -push")).toBe(false);
});

test("what only one of two alternatives excludes, a result may have", () => {
  expect(readSearch("kettle -lamp or harbor").excluded).toEqual([]);
  expect(readSearch("kettle -lamp or harbor -lamp").excluded).toEqual(["lamp"]);
});

test("a search for a text takes flags as words, and keeps phrases and or", () => {
  expect(searchExcept("curl -v --fail", [])).toBe("curl v fail");
  expect(searchExcept('"-v" or - or', [])).toBe('"-v"');
  expect(searchExcept("kettle or harbor", ["old lamp", 'a "b"'])).toBe(
    'kettle -"old lamp" -"a  b " or harbor -"old lamp" -"a  b "',
  );
  expect(searchExcept("--", ["lamp"])).toBe('-"lamp"');
});

test("a search is parted into what it asks for and what it excludes", () => {
  expect(partSearch('kettle -v -"old lamp"')).toEqual({ rest: "kettle", excluded: ["v", "old lamp"] });
  expect(partSearch("-v")).toEqual({ rest: "", excluded: ["v"] });
  expect(partSearch('"a b" or --c')).toEqual({ rest: '"a b" or c', excluded: [] });
  expect(partSearch("a -b or c -d -b")).toEqual({ rest: "a or c", excluded: ["b", "d"] });
});

test("spaces of other scripts part words in every database", () => {
  expect(spaced("東京\u3000-大阪\u00a0x")).toBe("東京 -大阪 x");
});
