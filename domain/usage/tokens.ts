import { UNITS } from "../access/gateway-operations.ts";

/**
 * Kinds of what a call uses, the same for every dialect: tokens, but for `tool_calls`, which counts calls of the
 * provider's own tools, such as a web search, and the {@link UNITS}. The kinds of tokens are disjoint: they may be
 * added. Each kind has its own price.
 */
export const TOKEN_KINDS = [
  "input",
  "cached",
  "cache_write_5m",
  "cache_write_1h",
  "output",
  "reasoning",
  "tool_calls",
  ...UNITS,
] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];
export type Tokens = Readonly<Record<TokenKind, number>>;

const COUNTED_APART: ReadonlySet<TokenKind> = new Set(["tool_calls", ...UNITS]);
/** Kinds that are counted in tokens. */
export const KINDS_OF_TOKENS: readonly TokenKind[] = TOKEN_KINDS.filter((kind) => !COUNTED_APART.has(kind));

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
  images: 0,
  seconds: 0,
  characters: 0,
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
  sum.images += tokens.images;
  sum.seconds += tokens.seconds;
  sum.characters += tokens.characters;
}
