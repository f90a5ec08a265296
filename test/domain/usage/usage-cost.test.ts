import { describe, expect, test } from "vitest";
import { NO_FIGURES } from "../../../domain/usage/token-count.ts";
import { NO_COST, showCost } from "../../../domain/usage/usage-cost.ts";

const PRICES = { currency: "USD", version: "0123456789ab", entries: [] };
const known = { trillionths: 1_500_000_000_000n, unpricedTokens: 0, unpricedToolCalls: 0, unpricedUnits: 0 };

describe("A cost", () => {
  test("is shown to the millionth with its currency and the version of the prices", () => {
    expect(showCost(PRICES, known, NO_FIGURES)).toEqual({
      ...{ currency: "USD", cost: "1.500000", knownCost: "1.500000", unpricedTokens: 0, unpricedToolCalls: 0 },
      ...{ unpricedUnits: 0, priceList: "0123456789ab" },
    });
    expect(showCost(PRICES, NO_COST, NO_FIGURES)).toMatchObject({ cost: "0.000000" });
  });

  test.each([
    ["tokens without a price", { unpricedTokens: 1 }, {}],
    ["calls of tools without a price", { unpricedToolCalls: 1 }, {}],
    ["images without a price", { unpricedUnits: 1 }, {}],
    ["an answer that was cut", {}, { cut: 1 }],
    ["an answer that reported nothing", {}, { unreported: 1 }],
    ["an answer that was not read", {}, { unread: 1 }],
    ["an answer that reported what cannot be", {}, { doubtful: 1 }],
  ])("with %s is unknown, and at least what is known of it", (_, lacks, counted) => {
    const shown = showCost(PRICES, { ...known, ...lacks }, { ...NO_FIGURES, ...counted });
    expect([shown.cost, shown.knownCost]).toEqual([null, "1.500000"]);
  });

  test("of an installation without prices is null, as are all that belong to it", () => {
    expect(new Set(Object.values(showCost(null, undefined, NO_FIGURES)))).toEqual(new Set([null]));
  });
});
