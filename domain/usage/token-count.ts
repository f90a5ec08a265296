import { type AnswerUsage, addTokens, NO_TOKENS, TOKEN_KINDS } from "./tokens.ts";

/** What is counted of answers: how many there were, of which endings and doubtful, and what they used. */
export const TOKEN_FIGURES = ["calls", "cut", "unreported", "unread", "doubtful", ...TOKEN_KINDS] as const;
export type TokenFigures = Readonly<Record<(typeof TOKEN_FIGURES)[number], number>>;

/** The answers of one key by one gateway, route and model, within the five minutes that begin at a moment. */
export type TokenCount = {
  readonly keyId: string;
  /** Milliseconds since the epoch. */
  readonly slot: number;
  readonly gatewayId: string;
  /** The empty string where no route was named. */
  readonly routeId: string;
  readonly model: string;
  /** The key's team as the last of them was counted. */
  readonly teamId: string;
  readonly figures: TokenFigures;
};

/** Of no answer. */
export const NO_FIGURES: TokenFigures = Object.freeze({
  ...{ calls: 0, cut: 0, unreported: 0, unread: 0, doubtful: 0 },
  ...NO_TOKENS,
});

/** Adds one answer, in place: it happens for each call. */
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
