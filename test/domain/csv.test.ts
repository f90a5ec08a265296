import { expect, test } from "vitest";
import { csvLine } from "../../domain/csv.ts";

test("a line is what a spreadsheet reads as it was", () => {
  expect(csvLine(["a", 'b "c", d', "e\nf", "", 7])).toBe('a,"b ""c"", d","e\nf",,7');
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "\uff1d1+1", "\uff201"])(
  "a text that begins as a formula does is no formula: %j",
  (text) => {
    expect(csvLine([text]).replaceAll('"', "")).toBe(`'${text}`);
  },
);

test.each(["a;=1+1;b", 'a;"=1+1;b', "a\t+1", "a\n-1\nb", "a\r\n@SUM(A1)", ";\uff0b1"])(
  "b239: nor does a part of it begin one where a spreadsheet parts lines elsewhere than at commas: %j",
  (text) => {
    const cells = csvLine(["first", text]).split(/[;\t\r\n]/);
    expect(cells.filter((cell) => /^"*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(cell))).toEqual([]);
  },
);

test("a text that begins no formula stays as it is", () => {
  expect(csvLine(["a; b=c", "x-y\nz"])).toBe('a; b=c,"x-y\nz"');
});
