import { expect, test } from "vitest";
import {
  type BudgetSize,
  budgetUnit,
  inUnit,
  mostOf,
  partsIn,
  partsText,
  sizeOf,
  sizeText,
  sizeToWrite,
} from "../../../domain/budget/budget-size.ts";

test.each<[size: BudgetSize, unit: string, parts: number, text: string]>([
  [{ tokens: 1_200 }, "tokens", 1_200, "1,200 tokens"],
  [{ cost: "250", currency: "USD" }, "USD", 250_000_000, "250.00 USD"],
  [{ cost: "0.000001", currency: "EUR" }, "EUR", 1, "0.000001 EUR"],
  [{ cost: "9999999.999999", currency: "EUR" }, "EUR", 9_999_999_999_999, "9,999,999.999999 EUR"],
])("%j is so many parts of its unit, exactly, and back", (size, unit, parts, text) => {
  expect([budgetUnit(size), mostOf(size), sizeText(size)]).toEqual([unit, parts, text]);
  expect(partsIn(unit, inUnit(unit, parts))).toBe(parts);
  expect([mostOf(sizeOf(unit, parts)), budgetUnit(sizeOf(unit, parts))]).toEqual([parts, unit]);
});

test("parts are said with their currency, and tokens as a number", () => {
  expect([partsText("tokens", 7), partsText("USD", 12_500_000), partsText("USD", 12_345_678)]).toEqual([
    "7",
    "12.50 USD",
    "12.345678 USD",
  ]);
});

test("a size to be written has no groups of digits, which no declaration takes", () => {
  expect(sizeToWrite({ tokens: 5_000_000 })).toBe("5000000 tokens");
  expect(sizeToWrite({ cost: "1250.00", currency: "USD" })).toBe("1250.00 USD");
});
