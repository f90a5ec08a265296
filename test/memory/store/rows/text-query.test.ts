import { expect, test } from "vitest";
import { lexemesOf, parseTextQuery, printTextQuery } from "../../../../memory/store/rows/text-query.ts";

function read(printed: string) {
  const query = parseTextQuery(printed);
  if (query === undefined) throw new Error(`nothing was read of ${printed}`);
  return query;
}

test("a query is read as PostgreSQL prints it", () => {
  expect(parseTextQuery("")).toBeUndefined();
  expect(printTextQuery(read("'a' & ( 'b' | 'c' ) & !'d'"))).toBe("('a' & ('b' | 'c') & !'d')");
  expect(printTextQuery(read("'a' <-> 'b' | 'c' <2> 'd'"))).toBe("(('a' & 'b') | ('c' & 'd'))");
  expect(printTextQuery(read(String.raw`'it''s' & 'c:\\x|y'`))).toBe(String.raw`('it''s' & 'c:\\x|y')`);
  expect(lexemesOf(read("'a' & ( 'b' | !'a' )"))).toEqual(["a", "b"]);
});
