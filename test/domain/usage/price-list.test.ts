import { describe, expect, test } from "vitest";
import { type PriceEntry, type PriceList, priceOrder } from "../../../domain/usage/price-list.ts";

const prices = {
  input: 1n,
  cached: null,
  cache_write_5m: null,
  cache_write_1h: null,
  output: 2n,
  reasoning: 2n,
} as const;
const entry = (name: string, isPrefix: boolean, day: string): PriceEntry => ({
  ...{ name, isPrefix, from: Date.parse(`${day}T00:00:00Z`) },
  prices: { ...prices, tool_calls: null, images: null, seconds: null, characters: null },
});
const list = (...entries: PriceEntry[]): PriceList => ({ currency: "USD", version: "0", entries });

describe("A price list's order", () => {
  test("has a model's own name before what it begins with, and the longer beginning before the shorter", () => {
    const { names } = priceOrder(
      list(
        ...[entry("", true, "2026-01-01"), entry("gpt-5-mini", true, "2026-01-01"), entry("gpt", true, "2026-01-01")],
        ...[entry("gpt-5-mini", false, "2026-01-01"), entry("o", false, "2026-01-01")],
      ),
    );
    expect(names.map(({ name, isPrefix }) => `${name}${isPrefix ? "*" : ""}`)).toEqual([
      ...["gpt-5-mini", "o", "gpt-5-mini*", "gpt*", "*"],
    ]);
  });

  test("has a price end on the day that the next one of the same name begins, and the last one go on", () => {
    const { days, spans } = priceOrder(
      list(entry("gpt", true, "2026-03-01"), entry("o", false, "2026-02-01"), entry("gpt", true, "2026-01-01")),
    );
    expect(days.map((day) => new Date(day).toISOString().slice(0, 10))).toEqual([
      ...["2026-01-01", "2026-02-01", "2026-03-01"],
    ]);
    expect(spans.map(({ name, first, end }) => [name, first, end])).toEqual([
      [0, 2, 4],
      [1, 1, 3],
      [1, 3, 4],
    ]);
  });
});
