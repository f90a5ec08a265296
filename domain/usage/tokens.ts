import type { Dialect } from "../access/key-record.ts";

/**
 * What a call used, in one form for every dialect. The kinds of tokens are disjoint: they may be added, and priced each
 * by itself. `tool_calls` are those of the provider's own tools, such as a search of the web.
 */
export const TOKEN_KINDS = [
  "input",
  "cached",
  "cache_write_5m",
  "cache_write_1h",
  "output",
  "reasoning",
  "tool_calls",
] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];
export type Tokens = Readonly<Record<TokenKind, number>>;

/**
 * How an answer reported its usage: `reported` to its end; `cut` where the answer ended before, and what was seen counts;
 * `unreported` where a whole answer said nothing; `unread` where it came in a coding that is not read.
 */
export const ANSWER_ENDINGS = ["reported", "cut", "unreported", "unread"] as const;
export type AnswerEnding = (typeof ANSWER_ENDINGS)[number];

/** What one answer reported. */
export type AnswerUsage = {
  readonly tokens: Tokens;
  /** As the answer names it, in any letters; undefined for none. */
  readonly model: string | undefined;
  readonly ending: AnswerEnding;
  /** Whether something was reported that cannot be: it counts as nothing, or as the least that it may mean. */
  readonly isDoubtful: boolean;
};

export const NO_TOKENS: Tokens = Object.freeze({
  input: 0,
  cached: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
  tool_calls: 0,
});

/**
 * Adds tokens to a sum, in place. Each kind by its name: it happens for each call, and a loop over names reads each by a
 * search.
 */
export function addTokens(sum: Record<TokenKind, number>, tokens: Tokens): void {
  sum.input += tokens.input;
  sum.cached += tokens.cached;
  sum.cache_write_5m += tokens.cache_write_5m;
  sum.cache_write_1h += tokens.cache_write_1h;
  sum.output += tokens.output;
  sum.reasoning += tokens.reasoning;
  sum.tool_calls += tokens.tool_calls;
}

/** More than any call has: an upstream that reports more is not believed. */
const MOST = 1_000_000_000;

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
  | "searches"
  | "fetches";

/** What has been reported so far: of each figure the last. */
export type ReportedFigures = Partial<Record<Figure, number>>;

/** Where a dialect reports each figure, within its usage. */
const PLACES: Readonly<Record<Dialect, readonly (readonly [Figure, string, string?])[]>> = {
  openai: [
    ["prompt", "prompt_tokens"],
    ["completion", "completion_tokens"],
    ["cached", "prompt_tokens_details", "cached_tokens"],
    ["reasoning", "completion_tokens_details", "reasoning_tokens"],
    // Responses.
    ["prompt", "input_tokens"],
    ["completion", "output_tokens"],
    ["cached", "input_tokens_details", "cached_tokens"],
    ["reasoning", "output_tokens_details", "reasoning_tokens"],
  ],
  anthropic: [
    ["prompt", "input_tokens"],
    ["completion", "output_tokens"],
    ["cached", "cache_read_input_tokens"],
    ["written", "cache_creation_input_tokens"],
    ["written5m", "cache_creation", "ephemeral_5m_input_tokens"],
    ["written1h", "cache_creation", "ephemeral_1h_input_tokens"],
    ["searches", "server_tool_use", "web_search_requests"],
    ["fetches", "server_tool_use", "web_fetch_requests"],
  ],
  gemini: [
    ["prompt", "promptTokenCount"],
    ["cached", "cachedContentTokenCount"],
    ["completion", "candidatesTokenCount"],
    ["reasoning", "thoughtsTokenCount"],
    ["toolPrompt", "toolUsePromptTokenCount"],
  ],
};

/**
 * Notes what one usage reports, over what was reported before: those of a stream are cumulative.
 *
 * @param usage as it was parsed
 * @returns false where something in it cannot be; that is left out
 */
export function noteUsage(reported: ReportedFigures, dialect: Dialect, usage: unknown): boolean {
  if (typeof usage !== "object" || usage === null || Array.isArray(usage)) return false;
  let isSound = true;
  for (const [figure, name, within] of PLACES[dialect]) {
    const outer = memberOf(usage, name);
    const value = within === undefined ? outer : memberOf(outer, within);
    if (value === undefined || value === null) continue;
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST) reported[figure] = value;
    else isSound = false;
  }
  return isSound;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Makes what was reported disjoint; `fits` is false where a part is larger than its whole. */
export function disjointTokens(
  dialect: Dialect,
  reported: ReportedFigures,
): { readonly tokens: Tokens; readonly fits: boolean } {
  const { prompt = 0, cached = 0, written5m = 0, written1h = 0, completion = 0, reasoning = 0 } = reported;
  // OpenAI's and Gemini's prompts include what is cached, and OpenAI's completion the reasoning; others are apart.
  const input = dialect === "anthropic" ? prompt : prompt - cached;
  const output = dialect === "openai" ? completion - reasoning : completion;
  // A sum without lifetimes is of the provider's usual one, five minutes.
  const written = Math.max(reported.written ?? 0, written5m + written1h);
  return {
    tokens: {
      input: Math.max(0, input) + (reported.toolPrompt ?? 0),
      cached,
      cache_write_5m: written - written1h,
      cache_write_1h: written1h,
      output: Math.max(0, output),
      reasoning,
      tool_calls: (reported.searches ?? 0) + (reported.fetches ?? 0),
    },
    fits: input >= 0 && output >= 0,
  };
}
