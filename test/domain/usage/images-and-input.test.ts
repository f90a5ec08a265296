/** A model that is paid for by its images, and by what it reads beside them. */
import { expect, test } from "vitest";
import { callPrices, reportedCost } from "../../../domain/usage/call-cost.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import { NO_TOKENS } from "../../../domain/usage/tokens.ts";

test("the tokens of an image that has a price of its own cost a budget nothing, as they cost in usage", () => {
  const read = parsePriceList("currency: USD\nprices: [{ model: painter, from: 2026-01-01, input: 5, images: 0.04 }]");
  const [entry] = "list" in read ? read.list.entries : [];
  const prices = callPrices([entry?.prices ?? expect.fail("it is a price list")], "images");
  const used = { ...NO_TOKENS, input: 10, output: 6_000, images: 1 };
  // 40,050 millionths, and not 70,050. `keyplane get usage` shows 0.040050.
  expect(prices && reportedCost(prices, used)).toBeCloseTo(40_050, 6);
});
