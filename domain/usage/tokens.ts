/**
 * Kinds of tokens that a call uses, the same for every dialect. The kinds are disjoint: they may be added, and each has
 * its own price. `tool_calls` counts calls of the provider's own tools, such as a web search.
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
 * Ways in which an answer reported its usage: `reported` to its end; `cut` if the answer was cut off, and what was seen
 * counts; `unreported` if a whole answer reported nothing; `unread` if its content coding is not read.
 */
export const ANSWER_ENDINGS = ["reported", "cut", "unreported", "unread"] as const;
export type AnswerEnding = (typeof ANSWER_ENDINGS)[number];

/** Usage reported by a single answer. */
export type AnswerUsage = {
  readonly tokens: Tokens;
  /** Name of the model as the answer spells it; undefined for none. */
  readonly model: string | undefined;
  readonly ending: AnswerEnding;
  /** True if something impossible was reported: it counts as nothing, or as the least that it may mean. */
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
 * Adds tokens to a sum, in place. It happens for each call, so each kind is added by its name: a loop over names would
 * look each one up.
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
