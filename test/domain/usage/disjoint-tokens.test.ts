/** What providers report of a call, and what that is: the rows of docs/decisions/token-counts.md among others. */
import { expect, test } from "vitest";
import { DIALECTS } from "../../../domain/access/key-record.ts";
import { read } from "../../architecture/sources.ts";
import { chat, readUsages, sound } from "./read-usages.ts";

/** `| who reports it | openai | its usages | what they count as | the rule |` */
const ROW = /^\| ([^|]+) \| (openai|anthropic|gemini) \| (`\{.+?\}`) \| (`\{.+?\}`) \| ([^|]+) \|$/gm;
const ROWS = [...read("docs/decisions/token-counts.md").matchAll(ROW)].map(
  ([, who = "", dialect = "", usages = "", tokens = ""]) => ({
    who,
    dialect: DIALECTS.find((each) => each === dialect) ?? "openai",
    usages: jsonIn(usages),
    tokens: Object.assign({}, ...jsonIn(tokens)),
  }),
);

function jsonIn(cell: string): unknown[] {
  return [...cell.matchAll(/`(\{.+?\})`/g)].map(([, json = ""]) => JSON.parse(json));
}

test("the page has a row of each provider", () => {
  const providers = ["OpenAI", "Anthropic", "Gemini", "xAI", "DeepSeek", "Moonshot", "Groq", "Mistral", "Bedrock"];
  for (const who of [...providers, "vLLM", "Ollama", "Voyage", "Perplexity", "Qwen", "LiteLLM", "SGLang"]) {
    expect(
      ROWS.some((row) => row.who.includes(who)),
      who,
    ).toBe(true);
  }
});

test.each(ROWS)("b300: what $who reports is counted as its rule says: $usages", ({ dialect, usages, tokens }) => {
  expect(readUsages(dialect, ...usages)).toEqual(sound(tokens));
});

test.each([
  [chat(279, 6, 374, 89, 149), { input: 130, cached: 149, output: 6, reasoning: 89 }],
  [chat(10_120, 1_499, 14_428, 2_809, 128), { input: 9_992, cached: 128, output: 1_499, reasoning: 2_809 }],
  [chat(100, 500, 800, 200), { input: 100, output: 500, reasoning: 200 }],
  [chat(100, 500, 600, 200), { input: 100, output: 300, reasoning: 200 }],
  [chat(20, 198, 623), { input: 20, output: 603 }],
  // Without a total the reasoning is inside, and a total that is too small says nothing.
  [chat(100, 500, undefined, 200), { input: 100, output: 300, reasoning: 200 }],
  [chat(100, 500, 0, 200), { input: 100, output: 300, reasoning: 200 }],
  [chat(100, 500, 520, 200), { input: 100, output: 300, reasoning: 200 }],
  // All of it was reasoning.
  [chat(12, 0, 1_012, 1_000), { input: 12, reasoning: 1_000 }],
  [chat(12, 1_000, 1_012, 1_000), { input: 12, reasoning: 1_000 }],
  // More than both.
  [chat(100, 500, 900, 200), { input: 100, output: 600, reasoning: 200 }],
  [
    { input_tokens: 30, output_tokens: 10, total_tokens: 90, output_tokens_details: { reasoning_tokens: 50 } },
    { input: 30, output: 10, reasoning: 50 },
  ],
  [{ total_tokens: 5_000 }, { input: 5_000 }],
  // Mistral's sound, in part from the cache; its chats may say `{}` of it.
  [
    { ...chat(5, 24, 404, undefined, 368), prompt_audio_seconds: 5 },
    { input: 12, cached: 368, output: 24 },
  ],
  [
    { ...chat(24, 27, 51), prompt_audio_seconds: {} },
    { input: 24, output: 27 },
  ],
  [
    { completion_tokens: 50, total_tokens: 150 },
    { input: 100, output: 50 },
  ],
  // What the cache had, beside the prompt as far as the total says so.
  [
    { ...chat(30, 5, 135), cache_read_input_tokens: 100 },
    { input: 30, cached: 100, output: 5 },
  ],
  [
    { ...chat(130, 5, 135), cache_read_input_tokens: 100 },
    { input: 30, cached: 100, output: 5 },
  ],
  [
    { ...chat(300, 5, 405), cache_read_input_tokens: 100 },
    { input: 300, cached: 100, output: 5 },
  ],
  [
    { ...chat(300, 5, 455, 50), cache_read_input_tokens: 100 },
    { input: 300, cached: 100, output: 5, reasoning: 50 },
  ],
  // Perplexity's has citations and reasoning beside it; should a total have them, they count once.
  [
    { ...chat(50, 700, 750), citation_tokens: 9_000, num_search_queries: 4, reasoning_tokens: 300 },
    { input: 9_050, output: 700, reasoning: 300, tool_calls: 4 },
  ],
  [
    { ...chat(50, 700, 10_050), citation_tokens: 9_000, num_search_queries: 4, reasoning_tokens: 300 },
    { input: 9_050, output: 700, reasoning: 300, tool_calls: 4 },
  ],
  [
    { ...chat(50, 700), citation_tokens: 0, num_search_queries: 4, reasoning_tokens: 9_000 },
    { input: 50, output: 700, reasoning: 9_000, tool_calls: 4 },
  ],
  [
    { ...chat(50, 700, 750), num_search_queries: 1 },
    { input: 50, output: 700, tool_calls: 1 },
  ],
  // Writes to a cache, in the details or beside the prompt.
  [
    { ...chat(2_000, 50, 2_050), prompt_tokens_details: { cached_tokens: 400, cache_creation_tokens: 1_500 } },
    { input: 100, cached: 400, cache_write_5m: 1_500, output: 50 },
  ],
  [
    {
      ...chat(2_000, 50, 2_050),
      prompt_tokens_details: { cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 900 } },
    },
    { input: 1_000, cache_write_5m: 100, cache_write_1h: 900, output: 50 },
  ],
  [
    {
      ...{ input_tokens: 1_524, output_tokens: 1_534, total_tokens: 3_058 },
      ...{ input_tokens_details: { cached_tokens: 1_305 }, output_tokens_details: { reasoning_tokens: 1_187 } },
      x_details: [{ input_tokens: 1_524, prompt_tokens_details: { cache_creation_input_tokens: 213 } }],
    },
    { input: 6, cached: 1_305, cache_write_5m: 213, output: 347, reasoning: 1_187 },
  ],
  [
    { ...chat(100, 50, 1_650), prompt_tokens_details: { cache_creation_input_tokens: 1_500 } },
    { input: 100, cache_write_5m: 1_500, output: 50 },
  ],
])("b300: an OpenAI's total is of all that was used: %j", (usage, tokens) => {
  expect(readUsages("openai", usage)).toEqual(sound(tokens));
});

test.each([
  [
    { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 530 },
    { input: 10, output: 520 },
  ],
  [
    { promptTokenCount: 10, totalTokenCount: 530, thoughtsTokenCount: 520 },
    { input: 10, reasoning: 520 },
  ],
  [{ totalTokenCount: 8 }, { input: 8 }],
  [{ promptTokenCount: 10, totalTokenCount: 10, toolUsePromptTokenCount: 40 }, { input: 50 }],
])("b300: Gemini's total is of all that was used: %j", (usage, tokens) => {
  expect(readUsages("gemini", usage)).toEqual(sound(tokens));
});

test.each([
  ["openai", { prompt_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } }, { input: 2, cached: 3 }],
  ["openai", chat(279, 6, undefined, 89), { input: 279, output: 6, reasoning: 89 }],
  ["openai", chat(279, 6, 285, 89), { input: 279, output: 6, reasoning: 89 }],
  ["gemini", { promptTokenCount: 2, cachedContentTokenCount: 3 }, { cached: 3 }],
] as const)("a part that is larger than its whole does not fit: %s, %j", (dialect, usage, tokens) => {
  expect(readUsages(dialect, usage)).toEqual({ ...sound(tokens), fits: false });
});
