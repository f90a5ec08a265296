import { describe, expect, test } from "vitest";
import { formatAmount, parseMicros } from "../../../domain/money.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";

const GOOD = `currency: USD
prices:
  - model: gpt-5*
    from: 2026-01-01
    input: 1.25
    cached: 0.125
    output: 10.000001
    toolCalls: 0.01
  - {model: claude, from: "2026-02-28", cacheWrites5m: 3.75, cacheWrites1h: 6, reasoning: 0, output: 15}
`;

const noUnits = { images: null, seconds: null, characters: null };

function faultsOf(text: string): string[] {
  const read = parsePriceList(text);
  return "faults" in read ? read.faults.map(({ line, path, message }) => `${line}: ${path}: ${message}`) : [];
}

describe("A price list", () => {
  test("has prices to the millionth, and of reasoning those of output where it says none", () => {
    const read = parsePriceList(GOOD);
    if ("faults" in read) throw new Error(JSON.stringify(read.faults));
    const { currency, version, entries } = read.list;
    expect([currency, version.length]).toEqual(["USD", 12]);
    expect(entries).toEqual([
      {
        ...{ name: "gpt-5", isPrefix: true, from: Date.UTC(2026, 0, 1) },
        prices: {
          ...{ input: 1_250_000n, cached: 125_000n, cache_write_5m: null, cache_write_1h: null },
          ...{ output: 10_000_001n, reasoning: 10_000_001n, tool_calls: 10_000_000_000n, ...noUnits },
        },
      },
      {
        ...{ name: "claude", isPrefix: false, from: Date.UTC(2026, 1, 28) },
        prices: {
          ...{ input: null, cached: null, cache_write_5m: 3_750_000n, cache_write_1h: 6_000_000n },
          ...{ output: 15_000_000n, reasoning: 0n, tool_calls: null, ...noUnits },
        },
      },
    ]);
  });

  test("has prices of an image and of a second, and of a million characters", () => {
    const read = parsePriceList(
      "currency: USD\nprices:\n  - { model: m, from: 2026-01-01, images: 0.04, seconds: 0.0000111, characters: 15 }\n",
    );
    if ("faults" in read) throw new Error(JSON.stringify(read.faults));
    expect(read.list.entries[0]?.prices).toMatchObject({
      ...{ input: null, images: 40_000_000_000n, seconds: 11_100_000n, characters: 15_000_000n },
    });
  });

  test("has another version once anything in it has changed", () => {
    const versionOf = (text: string) => {
      const read = parsePriceList(text);
      return "list" in read ? read.list.version : undefined;
    };
    expect(versionOf(GOOD)).toBe(versionOf(GOOD));
    expect(versionOf(GOOD.replace("1.25", "1.26"))).not.toBe(versionOf(GOOD));
  });

  test.each([
    ["an unknown field", "input:", "inputs:", "5: prices[0].inputs: is no field of a price list: the fields here are"],
    ["a negative price", "1.25", "-1.25", "5: prices[0].input: must be a price from 0"],
    ["a price with an exponent", "1.25", "1e3", "5: prices[0].input: must be a price from 0"],
    ["a price that is finer than a millionth", "1.25", "0.0000001", "5: prices[0].input: must be a price from 0"],
    ["a from that is no date", "from: 2026-01-01", "from: January", "4: prices[0].from: from must be a day in UTC"],
    ["a day that there is not", "2026-02-28", "2026-02-30", "9: prices[1].from: from must be a day in UTC"],
    ["no currency", "currency: USD\n", "", "1: : the currency is missing: write currency: USD"],
    ["a currency that there is not", "USD", "USX", "1: currency: must be a currency by ISO 4217"],
    ["a star in the middle", "gpt-5*", "gpt*5", "3: prices[0].model: model must be a name"],
    ["no model", "model: claude, ", "", "9: prices[1]: model must be a name"],
    [
      "two entries alike",
      'model: claude, from: "2026-02-28"',
      "model: gpt-5*, from: 2026-01-01",
      "has the model and from of prices[0]",
    ],
    ["a field that is given twice", "input: 1.25", "output: 1.25", "7: prices[0].output: is given twice"],
    [
      "no price",
      '{model: claude, from: "2026-02-28", cacheWrites5m: 3.75, cacheWrites1h: 6, reasoning: 0, output: 15}',
      "{model: c, from: 2026-01-01}",
      "9: prices[1]: has no price",
    ],
    ["what is several documents", "prices:", "---\nprices:", "a second document begins here: write all of it in one"],
    ["what is no YAML", "currency: USD", "currency: {", "is not YAML"],
  ])("with %s is refused by its line and field", (_, from, to, said) => {
    expect(GOOD).toContain(from);
    expect(faultsOf(GOOD.replace(from, to)).join("\n")).toContain(said);
  });

  test("that is another file is refused without a word of it, which may be a secret", () => {
    for (const text of [
      "@hunter2-hunter2",
      "- 'hunter2-hunter2",
      "hunter2-hunter2",
      "currency: hunter2-hunter2",
      "{hunter2-hunter2",
    ]) {
      const faults = faultsOf(text);
      expect(faults.length, text).toBeGreaterThan(0);
      expect(faults.filter((fault) => !fault.includes("is no field")).join()).not.toContain("hunter2");
    }
  });

  test("that is empty, a list, or nested without end is refused", () => {
    for (const text of ["", "[]", "currency: USD\nprices: []\n", "[".repeat(100_000)]) {
      expect(faultsOf(text).length, text.slice(0, 20)).toBeGreaterThan(0);
    }
  });
});

describe("An amount", () => {
  test("is exact to the millionth, rounded half up, however large it is", () => {
    expect(formatAmount(0n)).toBe("0.000000");
    expect([formatAmount(499_999n), formatAmount(500_000n)]).toEqual(["0.000000", "0.000001"]);
    expect(formatAmount(9_007_199_254_740_993n * 9_999_999_999_999n)).toBe("90071992547400922.800745");
    expect([parseMicros("0.1"), parseMicros("12345678"), parseMicros(".5"), parseMicros("1,5")]).toEqual([
      ...[100_000n, undefined, undefined, undefined],
    ]);
  });
});
