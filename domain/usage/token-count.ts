import { type AnswerUsage, addTokens, NO_TOKENS, TOKEN_KINDS } from "./tokens.ts";

/** Counters of answers: their number, those that ended in each incomplete way or are doubtful, and the tokens used. */
export const TOKEN_FIGURES = ["calls", "cut", "unreported", "unread", "doubtful", ...TOKEN_KINDS] as const;
export type TokenFigures = Readonly<Record<(typeof TOKEN_FIGURES)[number], number>>;

/** Counters of the answers of one key by one gateway, route and model, within five minutes. */
export type TokenCount = {
  readonly keyId: string;
  /** Start of the five minutes, in milliseconds since the epoch. */
  readonly slot: number;
  readonly gatewayId: string;
  /** Id of the route; the empty string if no route was named. */
  readonly routeId: string;
  readonly model: string;
  /** Id of the key's team when the last of the answers was counted. */
  readonly teamId: string;
  readonly figures: TokenFigures;
};

/** Counters of no answer. */
export const NO_FIGURES: TokenFigures = Object.freeze({
  ...{ calls: 0, cut: 0, unreported: 0, unread: 0, doubtful: 0 },
  ...NO_TOKENS,
});

/** Adds one answer, in place because it happens for each call. */
export function addAnswer(
  figures: Record<keyof TokenFigures, number>,
  { tokens, ending, isDoubtful }: AnswerUsage,
): void {
  figures.calls++;
  if (ending !== "reported") figures[ending]++;
  if (isDoubtful) figures.doubtful++;
  addTokens(figures, tokens);
}

export function addFigures(one: TokenFigures, other: TokenFigures): TokenFigures {
  const sum = { ...one };
  sum.calls += other.calls;
  sum.cut += other.cut;
  sum.unreported += other.unreported;
  sum.unread += other.unread;
  sum.doubtful += other.doubtful;
  addTokens(sum, other);
  return sum;
}
