import { expect, test } from "vitest";
import {
  addTokens,
  disjointTokens,
  NO_TOKENS,
  noteUsage,
  type ReportedFigures,
  TOKEN_KINDS,
} from "../../../domain/usage/tokens.ts";

/** What usages of one answer come to, one after the other. */
function read(dialect: Parameters<typeof noteUsage>[1], ...usages: readonly unknown[]) {
  const reported: ReportedFigures = {};
  const isSound = usages.map((usage) => noteUsage(reported, dialect, usage)).every(Boolean);
  return { ...disjointTokens(dialect, reported), isSound };
}
const sound = { fits: true, isSound: true };

test.each([
  ["openai", [{ prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 4 } }], { input: 6, cached: 4 }],
  ["openai", [{ completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 9 } }], { reasoning: 9 }],
  ["openai", [{ input_tokens: 3, output_tokens: 2, output_tokens_details: null }], { input: 3, output: 2 }],
  [
    "anthropic",
    [{ input_tokens: 5, cache_read_input_tokens: 90, output_tokens: 2 }],
    { input: 5, cached: 90, output: 2 },
  ],
  ["anthropic", [{ cache_creation_input_tokens: 8 }], { cache_write_5m: 8 }],
  [
    "anthropic",
    [{ cache_creation_input_tokens: 8, cache_creation: { ephemeral_1h_input_tokens: 8 } }, { output_tokens: 4 }],
    { cache_write_1h: 8, output: 4 },
  ],
  ["anthropic", [{ output_tokens: 1 }, { output_tokens: 40 }, { output_tokens: 90 }], { output: 90 }],
  [
    "gemini",
    [{ promptTokenCount: 9, cachedContentTokenCount: 4, candidatesTokenCount: 2, thoughtsTokenCount: 7 }],
    { input: 5, cached: 4, output: 2, reasoning: 7 },
  ],
] as const)("the figures of %s are made disjoint: %j", (dialect, usages, tokens) => {
  expect(read(dialect, ...usages)).toEqual({ tokens: { ...NO_TOKENS, ...tokens }, ...sound });
});

test("a part that is larger than its whole leaves nothing of the rest, and does not fit", () => {
  const usage = { prompt_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } };
  expect(read("openai", usage)).toEqual({ tokens: { ...NO_TOKENS, cached: 3 }, fits: false, isSound: true });
});

test("what cannot be is left out, and what was reported before stays", () => {
  for (const wrong of [-1, 1.5, 1e9 + 1, Number.NaN, "7", {}, [], true]) {
    const { tokens, isSound } = read("anthropic", { input_tokens: 5 }, { input_tokens: wrong, output_tokens: 2 });
    expect([tokens.input, tokens.output, isSound], String(wrong)).toEqual([5, 2, false]);
  }
  for (const wrong of [undefined, 7, "x", []]) expect(noteUsage({}, "openai", wrong)).toBe(false);
});

test("a member that every object has is none of the usage's", () => {
  const usage = JSON.parse('{"__proto__":{"prompt_tokens":5}}');
  expect(read("openai", usage)).toEqual({ tokens: NO_TOKENS, ...sound });
});

test("tokens of every kind are added to a sum", () => {
  const sum = { ...NO_TOKENS };
  const each = { input: 1, cached: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5, reasoning: 6, tool_calls: 7 };
  addTokens(sum, each);
  addTokens(sum, each);
  expect(TOKEN_KINDS.map((kind) => sum[kind])).toEqual([2, 4, 6, 8, 10, 12, 14]);
});
