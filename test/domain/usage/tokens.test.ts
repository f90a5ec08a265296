import { expect, test } from "vitest";
import { addTokens, NO_TOKENS, TOKEN_KINDS } from "../../../domain/usage/tokens.ts";

test("tokens of every kind are added to a sum", () => {
  const rest = { tool_calls: 7, images: 8, seconds: 9, characters: 10 };
  const sum = { ...NO_TOKENS };
  const each = { input: 1, cached: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5, reasoning: 6, ...rest };
  addTokens(sum, each);
  addTokens(sum, each);
  expect(TOKEN_KINDS.map((kind) => sum[kind])).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
});
