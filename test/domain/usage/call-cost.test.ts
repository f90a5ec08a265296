import { expect, test } from "vitest";
import { callPrices, expectedCost, pricesInForce, reportedCost } from "../../../domain/usage/call-cost.ts";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import { priceOrder } from "../../../domain/usage/price-list.ts";
import { NO_TOKENS, TOKEN_KINDS, type TokenKind } from "../../../domain/usage/tokens.ts";

const LIST = `currency: USD
prices:
  - { model: gpt-5*, from: 2026-01-01, input: 1.25, cached: 0.125, output: 10, toolCalls: 0.01 }
  - { model: gpt-5*, from: 2026-12-01, input: 1, output: 8 }
  - { model: gpt-5-mini, from: 2026-01-01, input: 0.25, output: 2 }
  - { model: embedder, from: 2026-01-01, input: 0.02 }
  - { model: dear, from: 2026-01-01, input: 10, output: 30 }
  - { model: writer, from: 2026-01-01, output: 3 }
`;
const NOW = Date.UTC(2026, 10, 15);

function inForce(at = NOW) {
  const read = parsePriceList(LIST);
  if ("faults" in read) throw new Error(read.faults.map(({ message }) => message).join());
  return pricesInForce(priceOrder(read.list), at);
}

function pricesOf(...models: string[]) {
  return callPrices(models.flatMap((model) => inForce().of(model) ?? []));
}

test("the prices in force are those of the longest name that fits, on their day", () => {
  const inputs = (at: number) =>
    ["gpt-5-2025-08-07", "gpt-5-mini", "claude"].map((model) => inForce(at).of(model)?.input);
  expect(inputs(NOW)).toEqual([1_250_000n, 250_000n, undefined]);
  expect(inputs(Date.UTC(2026, 11, 1))).toEqual([1_000_000n, 250_000n, undefined]);
  expect(inputs(Date.UTC(2025, 11, 31))).toEqual([undefined, undefined, undefined]);
  expect([inForce().until, inForce(Date.UTC(2027, 0, 1)).until]).toEqual([
    Date.UTC(2026, 11, 1),
    Number.POSITIVE_INFINITY,
  ]);
});

test("a call may cost, in millionths, what the dearest of its kinds and of the models that it may lead to does", () => {
  const one = pricesOf("gpt-5");
  expect(one && expectedCost(one, { input: 1_000, output: 100 })).toBe(1_000 * 1.25 + 100 * 10);
  const both = pricesOf("gpt-5-mini", "gpt-5");
  expect(both && expectedCost(both, { input: 1_000, output: 100 })).toBe(1_000 * 1.25 + 100 * 10);
});

test("b145: no kind of tokens costs less by several models than by the one of them that it is dearest with", () => {
  const dear = pricesOf("dear");
  const both = pricesOf("gpt-5", "dear");
  for (const kind of TOKEN_KINDS)
    expect([kind, both?.of[kind]]).toEqual([kind, Math.max(ofGpt(kind), dear?.of[kind] ?? 0)]);
});

const ofGpt = (kind: TokenKind) => pricesOf("gpt-5")?.of[kind] ?? 0;

test("what a call may cost is not known where reading, or writing that it does, has no price", () => {
  const embedder = pricesOf("embedder");
  expect(embedder && expectedCost(embedder, { input: 100, output: 0 })).toBe(2);
  expect(embedder && expectedCost(embedder, { input: 100, output: 1 })).toBeUndefined();
  expect([pricesOf("writer"), pricesOf("embedder", "writer"), callPrices([])]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("an answer costs what each kind does, and as much as its like where that has no price of its own", () => {
  const gpt = pricesOf("gpt-5");
  const used = {
    ...NO_TOKENS,
    input: 100,
    cached: 1_000,
    cache_write_5m: 10,
    output: 20,
    reasoning: 30,
    tool_calls: 2,
  };
  expect(gpt && reportedCost(gpt, used)).toBeCloseTo(
    100 * 1.25 + 1_000 * 0.125 + 10 * 1.25 + 20 * 10 + 30 * 10 + 2 * 10_000,
    9,
  );
  const mini = pricesOf("gpt-5-mini");
  expect(mini && reportedCost(mini, { ...NO_TOKENS, tool_calls: 5, cached: 4 })).toBe(1);
});
