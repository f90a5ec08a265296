import type { Dialect } from "../access/key-record.ts";

/** The figures of the dialects, before they are made disjoint. */
type Figure =
  | "prompt"
  | "cached"
  | "written"
  | "written5m"
  | "written1h"
  | "completion"
  | "reasoning"
  | "toolPrompt"
  | "citations"
  | "total"
  | "searches"
  | "fetches";
export type Figures = Partial<Record<Figure, number>>;

/** What has been reported so far: of each figure the last above 0. */
export type ReportedFigures = {
  readonly said: Figures;
  /** As the items of lists add up to it. */
  readonly summed: Figures;
};

/** A figure, and the names under which it stands, one within the other. */
type Place = readonly [Figure, ...names: string[]];

/** Anthropic's tokens: of the answer itself, and of each of its iterations. */
const ANTHROPIC_TOKENS: readonly Place[] = [
  ["prompt", "input_tokens"],
  ["completion", "output_tokens"],
  ["cached", "cache_read_input_tokens"],
  ["written", "cache_creation_input_tokens"],
  ["written5m", "cache_creation", "ephemeral_5m_input_tokens"],
  ["written1h", "cache_creation", "ephemeral_1h_input_tokens"],
];

/** Where each dialect reports its figures; which provider does, docs/decisions/token-counts.md says. */
const PLACES: Readonly<Record<Dialect, Readonly<Record<keyof ReportedFigures, readonly Place[]>>>> = {
  openai: {
    said: [
      ["total", "total_tokens"],
      ["prompt", "prompt_tokens"],
      ["completion", "completion_tokens"],
      ["cached", "prompt_tokens_details", "cached_tokens"],
      ["written", "prompt_tokens_details", "cache_write_tokens"],
      ["reasoning", "completion_tokens_details", "reasoning_tokens"],
      // Responses.
      ["prompt", "input_tokens"],
      ["completion", "output_tokens"],
      ["cached", "input_tokens_details", "cached_tokens"],
      ["written", "input_tokens_details", "cache_write_tokens"],
      ["reasoning", "output_tokens_details", "reasoning_tokens"],
      // DeepSeek's, Moonshot's, and what gateways make of Claude's.
      ["cached", "prompt_cache_hit_tokens"],
      ["cached", "cached_tokens"],
      ["cached", "cache_read_input_tokens"],
      ["written", "cache_creation_input_tokens"],
      // Within the details, those of Qwen and of LiteLLM.
      ["written", "prompt_tokens_details", "cache_creation_input_tokens"],
      ["written", "prompt_tokens_details", "cache_creation_tokens"],
      ["written", "x_details", "prompt_tokens_details", "cache_creation_input_tokens"],
      ["written5m", "prompt_tokens_details", "cache_creation", "ephemeral_5m_input_tokens"],
      ["written1h", "prompt_tokens_details", "cache_creation", "ephemeral_1h_input_tokens"],
      ["written5m", "prompt_tokens_details", "cache_creation_token_details", "ephemeral_5m_input_tokens"],
      ["written1h", "prompt_tokens_details", "cache_creation_token_details", "ephemeral_1h_input_tokens"],
      // Perplexity's, and SGLang's.
      ["citations", "citation_tokens"],
      ["searches", "num_search_queries"],
      ["reasoning", "reasoning_tokens"],
    ],
    summed: [],
  },
  anthropic: {
    said: [
      ...ANTHROPIC_TOKENS,
      ["searches", "server_tool_use", "web_search_requests"],
      ["fetches", "server_tool_use", "web_fetch_requests"],
    ],
    summed: ANTHROPIC_TOKENS.map(([figure, ...names]): Place => [figure, "iterations", ...names]),
  },
  gemini: {
    said: [
      ["total", "totalTokenCount"],
      ["prompt", "promptTokenCount"],
      ["cached", "cachedContentTokenCount"],
      ["completion", "candidatesTokenCount"],
      ["reasoning", "thoughtsTokenCount"],
      ["toolPrompt", "toolUsePromptTokenCount"],
    ],
    summed: [
      ["prompt", "promptTokensDetails", "tokenCount"],
      ["cached", "cacheTokensDetails", "tokenCount"],
      ["completion", "candidatesTokensDetails", "tokenCount"],
      ["toolPrompt", "toolUsePromptTokensDetails", "tokenCount"],
    ],
  },
};

/** More than any call has: an upstream that reports more is not believed. */
const MOST = 1_000_000_000;

/** Makes room for what is to be reported. */
export function noFigures(): ReportedFigures {
  return { said: {}, summed: {} };
}

/**
 * Notes what one usage reports, over what was reported before. The figures of a stream are cumulative: a 0 says nothing of
 * one that was above it.
 *
 * @param usage as it was parsed
 * @returns false where something in it cannot be; that is left out
 */
export function noteUsage(reported: ReportedFigures, dialect: Dialect, usage: unknown): boolean {
  if (typeof usage !== "object" || usage === null || Array.isArray(usage)) return false;
  let isSound = true;
  for (const kind of ["said", "summed"] as const) {
    const figures = reported[kind];
    for (const place of PLACES[dialect][kind]) {
      const value = figureAt(usage, place);
      if (value === undefined) continue;
      if (Number.isNaN(value)) isSound = false;
      else if (value > 0) figures[place[0]] = value;
    }
  }
  return isSound;
}

/**
 * The figure at a place, of a list the sum over its items; undefined where there is none, and NaN where it cannot be.
 *
 * @param depth of the name that is looked for next
 */
function figureAt(value: unknown, place: Place, depth = 1): number | undefined {
  if (value === undefined || value === null) return undefined;
  const name = place[depth];
  if (name === undefined) return isFigure(value) ? value : Number.NaN;
  if (!Array.isArray(value)) return figureAt(memberOf(value, name), place, depth + 1);
  let sum: number | undefined;
  for (const item of value) {
    const figure = figureAt(memberOf(item, name), place, depth + 1);
    if (figure !== undefined) sum = (sum ?? 0) + figure;
  }
  return sum === undefined || isFigure(sum) ? sum : Number.NaN;
}

function isFigure(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Of each figure the larger: what is said and what a list adds up to are of the same. */
export function largestFigures(dialect: Dialect, { said, summed }: ReportedFigures): Figures {
  const figures: Figures = { ...said };
  for (const [figure] of PLACES[dialect].summed) {
    const sum = summed[figure];
    if (sum !== undefined) figures[figure] = Math.max(figures[figure] ?? 0, sum);
  }
  return figures;
}
