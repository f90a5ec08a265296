import { describe, expect, test } from "vitest";
import { noFigures, noteUsage } from "../../../domain/usage/reported-figures.ts";
import { chat, readUsages, sound } from "./read-usages.ts";

const iteration = {
  ...{ type: "message", input_tokens: 1_200, output_tokens: 300 },
  ...{ cache_read_input_tokens: 800, cache_creation_input_tokens: 100 },
};

describe("Anthropic's iterations", () => {
  test.each([
    [[{ input_tokens: 5, output_tokens: 2, iterations: [] }], { input: 5, output: 2 }],
    [[{ input_tokens: 5, output_tokens: 2, iterations: null }], { input: 5, output: 2 }],
    [[{ iterations: [iteration, iteration] }], { input: 2_400, output: 600, cached: 1_600, cache_write_5m: 200 }],
    [
      [{ iterations: [{ ...iteration, cache_creation: { ephemeral_1h_input_tokens: 100 } }, iteration] }],
      { input: 2_400, output: 600, cached: 1_600, cache_write_5m: 100, cache_write_1h: 100 },
    ],
    // A stream whose first usage is of the message alone.
    [
      [
        { input_tokens: 1_200, output_tokens: 1, cache_read_input_tokens: 800 },
        { output_tokens: 300, iterations: [{ ...iteration, type: "compaction", output_tokens: 4_000 }, iteration] },
      ],
      { input: 2_400, output: 4_300, cached: 1_600, cache_write_5m: 200 },
    ],
    // What another model was asked by a tool.
    [
      [
        {
          input_tokens: 5,
          output_tokens: 2,
          iterations: [{ input_tokens: 5, output_tokens: 2 }, { input_tokens: 90 }],
        },
      ],
      { input: 95, output: 2 },
    ],
  ])("b301: are added up, caches included: %j", (usages, tokens) => {
    expect(readUsages("anthropic", ...usages)).toEqual(sound(tokens));
  });

  test("b301: are left out where they cannot be", () => {
    for (const wrong of [
      [{ input_tokens: -5 }],
      [{ input_tokens: 1e9 }, { input_tokens: 1e9 }],
      [{ input_tokens: "5" }],
    ]) {
      const { tokens, isSound } = readUsages("anthropic", { input_tokens: 7, iterations: wrong });
      expect([tokens.input, isSound], JSON.stringify(wrong)).toEqual([7, false]);
    }
    const nested = { iterations: JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) };
    expect(readUsages("anthropic", nested)).toEqual(sound({}));
  });
});

test.each([
  [
    "anthropic",
    [
      { input_tokens: 1_500, cache_read_input_tokens: 300 },
      { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 47 },
    ],
    { input: 1_500, cached: 300, output: 47 },
  ],
  ["anthropic", [{ output_tokens: 1 }, { output_tokens: 40 }, { output_tokens: 30 }], { output: 30 }],
  ["openai", [chat(1_000, 50, 1_050), chat(0, 0, 0)], { input: 1_000, output: 50 }],
  ["openai", [chat(1_000, 0, 1_000), chat(0, 50, 50)], { input: 1_000, output: 50 }],
  [
    "openai",
    [chat(1_000, 50, 1_050, 20, 400), { ...chat(1_000, 60, 1_060), prompt_tokens_details: null }],
    { input: 600, cached: 400, output: 40, reasoning: 20 },
  ],
  [
    "openai",
    [{ prompt_tokens: 10, input_tokens: 0, completion_tokens: 5, output_tokens: 0 }],
    { input: 10, output: 5 },
  ],
  [
    "gemini",
    [
      { promptTokenCount: 30, cachedContentTokenCount: 10 },
      { promptTokenCount: 30, candidatesTokenCount: 7 },
    ],
    { input: 20, cached: 10, output: 7 },
  ],
] as const)("b302: a 0 says nothing of a figure that was above it: %s, %j", (dialect, usages, tokens) => {
  expect(readUsages(dialect, ...usages)).toEqual(sound(tokens));
});

test("what cannot be is left out, and what was reported before stays", () => {
  for (const wrong of [-1, 1.5, 1e9 + 1, Number.NaN, "7", {}, [], true]) {
    const { tokens, isSound } = readUsages("anthropic", { input_tokens: 5 }, { input_tokens: wrong, output_tokens: 2 });
    expect([tokens.input, tokens.output, isSound], String(wrong)).toEqual([5, 2, false]);
  }
  for (const wrong of [undefined, 7, "x", []]) expect(noteUsage(noFigures(), "openai", wrong)).toBe(false);
});

test("a member that every object has is none of the usage's", () => {
  expect(readUsages("openai", JSON.parse('{"__proto__":{"prompt_tokens":5}}'))).toEqual(sound({}));
});
