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
