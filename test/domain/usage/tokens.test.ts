import { expect, test } from "vitest";
import { addTokens, NO_TOKENS, TOKEN_KINDS } from "../../../domain/usage/tokens.ts";

test("tokens of every kind are added to a sum", () => {
  const sum = { ...NO_TOKENS };
  const each = { input: 1, cached: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5, reasoning: 6, tool_calls: 7 };
  addTokens(sum, each);
  addTokens(sum, each);
  expect(TOKEN_KINDS.map((kind) => sum[kind])).toEqual([2, 4, 6, 8, 10, 12, 14]);
});
