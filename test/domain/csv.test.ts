import { expect, test } from "vitest";
import { csvLine } from "../../domain/csv.ts";

test("a line is what a spreadsheet reads as it was", () => {
  expect(csvLine(["a", 'b "c", d', "e\nf", "", 7])).toBe('a,"b ""c"", d","e\nf",,7');
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])(
  "a text that begins as a formula does is no formula: %j",
  (text) => {
    expect(csvLine([text]).replaceAll('"', "")).toBe(`'${text}`);
  },
);
