import type { Dialect } from "../access/key-record.ts";

/** Names of the figures of all dialects, before they are made disjoint. */
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
  | "heard";
export type Figures = Partial<Record<Figure, number>>;

/** Figures reported so far: the last value above 0 of each. */
export type ReportedFigures = {
  readonly said: Figures;
  /** Figures that are sums over the items of lists. */
  readonly summed: Figures;
};

/** A figure, and the path of names under which it is reported. */
type FigurePath = readonly [Figure, ...names: string[]];

/** Paths of Anthropic's tokens, in the answer itself and in each of its iterations. */
const ANTHROPIC_TOKENS: readonly FigurePath[] = [
  ["prompt", "input_tokens"],
  ["completion", "output_tokens"],
  ["cached", "cache_read_input_tokens"],
  ["written", "cache_creation_input_tokens"],
  ["written5m", "cache_creation", "ephemeral_5m_input_tokens"],
  ["written1h", "cache_creation", "ephemeral_1h_input_tokens"],
];

/** Paths of the figures by dialect. docs/decisions/token-counts.md says which provider reports which. */
const FIGURE_PATHS: Readonly<Record<Dialect, Readonly<Record<keyof ReportedFigures, readonly FigurePath[]>>>> = {
  openai: {
    said: [
      ["total", "total_tokens"],
      ["prompt", "prompt_tokens"],
      ["completion", "completion_tokens"],
      ["cached", "prompt_tokens_details", "cached_tokens"],
      ["written", "prompt_tokens_details", "cache_write_tokens"],
      ["reasoning", "completion_tokens_details", "reasoning_tokens"],
      // OpenAI's Responses API.
      ["prompt", "input_tokens"],
      ["completion", "output_tokens"],
      ["cached", "input_tokens_details", "cached_tokens"],
      ["written", "input_tokens_details", "cache_write_tokens"],
      ["reasoning", "output_tokens_details", "reasoning_tokens"],
      // DeepSeek, Moonshot, and gateways in front of Claude.
      ["cached", "prompt_cache_hit_tokens"],
      ["cached", "cached_tokens"],
      ["cached", "cache_read_input_tokens"],
      ["written", "cache_creation_input_tokens"],
      // Qwen and LiteLLM, within the details.
      ["written", "prompt_tokens_details", "cache_creation_input_tokens"],
      ["written", "prompt_tokens_details", "cache_creation_tokens"],
      ["written", "x_details", "prompt_tokens_details", "cache_creation_input_tokens"],
      ["written5m", "prompt_tokens_details", "cache_creation", "ephemeral_5m_input_tokens"],
      ["written1h", "prompt_tokens_details", "cache_creation", "ephemeral_1h_input_tokens"],
      ["written5m", "prompt_tokens_details", "cache_creation_token_details", "ephemeral_5m_input_tokens"],
      ["written1h", "prompt_tokens_details", "cache_creation_token_details", "ephemeral_1h_input_tokens"],
      // Perplexity and SGLang.
      ["citations", "citation_tokens"],
      ["searches", "num_search_queries"],
      ["reasoning", "reasoning_tokens"],
    ],
    summed: [],
  },
  anthropic: {
    // A fetch is paid for by its tokens alone.
    said: [...ANTHROPIC_TOKENS, ["searches", "server_tool_use", "web_search_requests"]],
    summed: ANTHROPIC_TOKENS.map(([figure, ...names]): FigurePath => [figure, "iterations", ...names]),
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

/** Mistral's seconds of sound; an object without members in some answers without sound. */
const HEARD_SECONDS = "prompt_audio_seconds";

/** Highest figure that is accepted, more than any call has: an upstream that reports more is not believed. */
const MOST = 1_000_000_000;

/** Returns an empty record for reported figures. */
export function noFigures(): ReportedFigures {
  return { said: {}, summed: {} };
}

/**
 * Records the figures of one usage report, over those reported before. The figures of a stream are cumulative: a 0 does
 * not replace a higher value.
 *
 * @param usage as it was parsed
 * @returns false if something in it is not possible; that is left out
 */
export function noteUsage(reported: ReportedFigures, dialect: Dialect, usage: unknown): boolean {
  if (typeof usage !== "object" || usage === null || Array.isArray(usage)) return false;
  let isSound = true;
  for (const kind of ["said", "summed"] as const) {
    const figures = reported[kind];
    for (const path of FIGURE_PATHS[dialect][kind]) {
      const value = figureAt(usage, path);
      if (value === undefined) continue;
      if (Number.isNaN(value)) isSound = false;
      else if (value > 0) figures[path[0]] = value;
    }
  }
  const heard = wholeOf(memberOf(usage, HEARD_SECONDS));
  if (heard > 0) reported.said.heard = heard;
  return isSound;
}

/**
 * Returns the figure at a path, for a list the sum over its items; undefined if there is none, and NaN if it is not
 * possible.
 *
 * @param depth index of the next name in the path
 */
function figureAt(value: unknown, path: FigurePath, depth = 1): number | undefined {
  if (value === undefined || value === null) return undefined;
  const name = path[depth];
  if (name === undefined) return isFigure(value) ? value : Number.NaN;
  if (!Array.isArray(value)) return figureAt(memberOf(value, name), path, depth + 1);
  let sum: number | undefined;
  for (const item of isServedByFallback(value) ? value.filter((one) => !isDeclined(one)) : value) {
    const figure = figureAt(memberOf(item, name), path, depth + 1);
    if (figure !== undefined) sum = (sum ?? 0) + figure;
  }
  return sum === undefined || isFigure(sum) ? sum : Number.NaN;
}

/** True if a fallback has served the answer: Anthropic lists each attempt. */
function isServedByFallback(iterations: readonly unknown[]): boolean {
  return iterations.some((one) => memberOf(one, "type") === FALLBACK);
}

/** True for an attempt that has written nothing, before a fallback served the answer: it is not billed. */
function isDeclined(iteration: unknown): boolean {
  return memberOf(iteration, "type") === "message" && memberOf(iteration, "output_tokens") === 0;
}

/** Type of the attempt of a fallback, another model than the one of the call, which has served the answer. */
const FALLBACK = "fallback_message";

/** Returns the model of the fallback that has served the answer, as a usage says; undefined for none. */
export function servingModel(usage: unknown): string | undefined {
  const iterations = memberOf(usage, "iterations");
  const served = Array.isArray(iterations)
    ? iterations.findLast((one) => memberOf(one, "type") === FALLBACK)
    : undefined;
  const model = memberOf(served, "model");
  return typeof model === "string" && model !== "" ? model : undefined;
}

function isFigure(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Returns the seconds of sound that a usage reports, each begun one whole; 0 if it reports none that are possible. */
export function secondsOf(usage: unknown): number {
  return wholeOf(memberOf(usage, "seconds") ?? memberOf(usage, HEARD_SECONDS));
}

function wholeOf(seconds: unknown): number {
  const whole = typeof seconds === "number" ? Math.ceil(seconds) : 0;
  return isFigure(whole) ? whole : 0;
}

/** Returns the larger value of each figure: the reported figure and the sum over a list measure the same. */
export function largestFigures(dialect: Dialect, { said, summed }: ReportedFigures): Figures {
  const figures: Figures = { ...said };
  for (const [figure] of FIGURE_PATHS[dialect].summed) {
    const sum = summed[figure];
    if (sum !== undefined) figures[figure] = Math.max(figures[figure] ?? 0, sum);
  }
  return figures;
}
