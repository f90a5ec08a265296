import { expect, test } from "vitest";
import { lexemesOf, parseTextQuery, printTextQuery } from "../../../../../memory/store/rows/text-query.ts";
import { chooseIndexCondition } from "../../../../../memory/store/search/words/index-condition.ts";

function read(printed: string) {
  const query = parseTextQuery(printed);
  if (query === undefined) throw new Error(`nothing was read of ${printed}`);
  return query;
}

function chosen(printed: string, shares: Readonly<Record<string, number>>, matching = 0) {
  const { condition, isComplete } = chooseIndexCondition(read(printed), (lexeme) => shares[lexeme] ?? 0, matching);
  return { condition: condition && printTextQuery(condition), isComplete };
}

test("b86: of words that must all occur the index is asked for the rarest eight", () => {
  const words = Array.from({ length: 20 }, (_, i) => `w${i}`);
  const shares = Object.fromEntries(words.map((word, i) => [word, 1 - i / 20]));
  const { condition, isComplete } = chosen(words.map((word) => `'${word}'`).join(" & "), shares);
  expect(lexemesOf(read(condition ?? ""))).toEqual(words.slice(-8).reverse());
  expect(isComplete).toBe(true);
});

test("b86: of words of which any will do the index is asked for those that are rare together, and does not answer alone", () => {
  expect(chosen("'rare' | 'often' | 'seldom'", { rare: 0.001, often: 0.6, seldom: 0.01 })).toEqual({
    condition: "(('rare') | ('seldom'))",
    isComplete: false,
  });
  expect(chosen("'a' | 'b'", {})).toEqual({ condition: "(('a') | ('b'))", isComplete: true });
  expect(chosen("'often' | !'rare'", { often: 0.6 })).toEqual({ condition: null, isComplete: false });
  const many = Array.from({ length: 300 }, (_, i) => `'w${i}'`).join(" | ");
  expect(lexemesOf(read(chosen(many, {}).condition ?? ""))).toHaveLength(32);
});

test("b86: what most atoms match is not asked of the index", () => {
  expect(chosen("'often' & 'usual'", { often: 0.9, usual: 0.8 }, 0.7)).toEqual({ condition: null, isComplete: false });
});

test("an excluded phrase excludes no atom that only has its words", () => {
  expect(chosen("'a' & !( 'b' <-> 'c' )", {})).toEqual({ condition: "('a')", isComplete: true });
  expect(chosen("'a' & !'b'", {})).toEqual({ condition: "('a' & !'b')", isComplete: true });
});
