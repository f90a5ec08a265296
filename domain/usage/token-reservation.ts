import type { Dialect } from "../access/key-record.ts";
import type { AnswerUsage, Tokens } from "./tokens.ts";

/** What a call is expected to use, in tokens. */
export type ExpectedTokens = { readonly input: number; readonly output: number };

/** How much a call may use, as its body says. */
export type CallBounds = {
  /** The most tokens of an answer; undefined where the call does not say so, and 0 where none is written. */
  readonly most: number | undefined;
  /** How many answers it asks for at once. */
  readonly answers: number;
  /** Whether it names what is to be read with it, as a file, an earlier response or a conversation. */
  readonly refers: boolean;
};

/** Of all that a call names to be read with it: how much that is, its provider alone knows. */
export const REFERRED_INPUT = 16_384;
/** Of an answer that the call does not bound. */
export const UNKNOWN_OUTPUT = 1_024;
/** No model writes more into an answer, whatever the call lets it have. */
export const MOST_OUTPUT = 1_048_576;
/** Nor does a provider give more answers to one prompt: more than as many of the longest are of no call. */
const MOST_ANSWERS = 128;

/** How a call has ended. */
export type CallEnd = {
  /** What its answer reported; undefined where there was none. */
  readonly answer: ReportedAnswer | undefined;
  /** How many upstreams were given up while they were at work on it, which may go on. */
  readonly givenUp: number;
};

type ReportedAnswer = {
  readonly usage: AnswerUsage;
  /** The most tokens that may have been written by then; Infinity where that is not known. */
  readonly mostWritten: number;
};

/** No upstream has done the call: it was refused, or failed. */
export const NOT_DONE: CallEnd = { answer: undefined, givenUp: 0 };

/**
 * What a call may use: no text has more tokens than bytes, and no answer more than it is let have.
 *
 * @param bytes of its body
 */
export function expectTokens(bytes: number, { most = UNKNOWN_OUTPUT, answers, refers }: CallBounds): ExpectedTokens {
  return {
    input: bytes + (refers ? REFERRED_INPUT : 0),
    output: Math.min(Math.min(most, MOST_OUTPUT) * answers, MOST_ANSWERS * MOST_OUTPUT),
  };
}

/** What a call has used in the end, in tokens. The larger counts, an estimate no further than what was reserved. */
export type UsedTokens = {
  /** As its answer says. */
  readonly reported: number;
  /** Where its answer does not say all of it. */
  readonly estimated: number;
  /** What the answer reported, by kind; undefined where there was none. */
  readonly answer: AnswerUsage | undefined;
  /** What is estimated beyond what the answer reported. */
  readonly unreported: ExpectedTokens;
  /** How many upstreams were given up: each may have used what was reserved, on top of the rest. */
  readonly givenUp: number;
};

const NOTHING: ExpectedTokens = { input: 0, output: 0 };
/** Of a call that no upstream has done. */
export const UNUSED: UsedTokens = { reported: 0, estimated: 0, answer: undefined, unreported: NOTHING, givenUp: 0 };

/**
 * What a call has used in the end: what its answer reported. One that reports nothing, or what cannot be, is taken to have
 * used what was expected, and so is each upstream that was given up before its answer began: it may have written it by
 * then. One that was cut later has read its input, and written what was reported or, up to what was expected, the most
 * that it may have.
 */
export function usedTokens(dialect: Dialect, expected: ExpectedTokens, { answer, givenUp }: CallEnd): UsedTokens {
  if (answer === undefined) return { ...UNUSED, givenUp };
  return { ...usedByAnswer(dialect, expected, answer), givenUp };
}

function usedByAnswer(
  dialect: Dialect,
  expected: ExpectedTokens,
  { usage: answer, mostWritten }: ReportedAnswer,
): Omit<UsedTokens, "givenUp"> {
  const { tokens, ending, isDoubtful } = answer;
  const [input, output] = [inputOf(dialect, tokens), tokens.output + tokens.reasoning];
  const reported = input + output;
  const without = (read: number, written: number): ExpectedTokens => ({
    input: Math.max(0, read - input),
    output: Math.max(0, written - output),
  });
  if (ending === "cut") {
    const isRead = input + tokens.cached > 0;
    const read = isRead ? input : expected.input;
    const written = Math.min(expected.output, mostWritten);
    return { reported, estimated: read + written, answer, unreported: without(read, written) };
  }
  if (ending === "reported" && !isDoubtful) return { reported, estimated: 0, answer, unreported: NOTHING };
  const { input: read, output: written } = expected;
  return { reported, estimated: read + written, answer, unreported: without(read, written) };
}

/** As the providers count it for their own limits: Anthropic leaves out what is read from its cache, others do not. */
function inputOf(dialect: Dialect, { input, cached, cache_write_5m, cache_write_1h }: Tokens): number {
  return input + cache_write_5m + cache_write_1h + (dialect === "anthropic" ? 0 : cached);
}
