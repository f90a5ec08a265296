import { expect, test } from "vitest";
import {
  type CallBounds,
  type CallEnd,
  type ExpectedTokens,
  expectTokens,
  MOST_OUTPUT,
  NOT_DONE,
  REFERRED_INPUT,
  UNKNOWN_OUTPUT,
  usedTokens,
} from "../../../domain/usage/token-reservation.ts";
import { type AnswerUsage, NO_TOKENS } from "../../../domain/usage/tokens.ts";

const EXPECTED = { input: 1_000, output: 500 };
const answer = (usage: Partial<AnswerUsage>, most = 0, least = 0): CallEnd => ({
  answer: {
    usage: { tokens: NO_TOKENS, model: undefined, ending: "reported", isDoubtful: false, ...usage },
    written: { least, most },
  },
  givenUp: 0,
});
const TOKENS = { ...NO_TOKENS, input: 10, cached: 7, cache_write_5m: 3, output: 20, reasoning: 5, tool_calls: 2 };

const BOUNDS: CallBounds = { most: undefined, answers: 1, refers: false };

test.each<[number, Partial<CallBounds>, ExpectedTokens]>([
  [400, { most: 50 }, { input: 400, output: 50 }],
  [400, { most: 50, answers: 3 }, { input: 400, output: 150 }],
  [400, { answers: 3 }, { input: 400, output: 3 * UNKNOWN_OUTPUT }],
  [400, { most: Number.MAX_SAFE_INTEGER }, { input: 400, output: MOST_OUTPUT }],
  [400, { most: 0 }, { input: 400, output: 0 }],
])("b128: of %i bytes with the bounds %j is expected %j", (bytes, bounds, expected) => {
  expect(expectTokens(bytes, { ...BOUNDS, ...bounds })).toEqual(expected);
});

test("b128: who leaves a stream of images pays for all that it asked for, and once all have come for what they report", () => {
  const of = (count: number): ExpectedTokens => ({ input: 40, output: 6_200, units: { unit: "images", count } });
  const left = answer({ tokens: { ...NO_TOKENS, input: 9, output: 700, images: 1 }, ending: "cut" }, 100_000);
  expect(usedTokens("openai", of(10), left)).toMatchObject({ reported: 709, estimated: 9 + 6_200 });
  expect(usedTokens("openai", of(1), left)).toMatchObject({ reported: 709, estimated: 0 });
});

test("b242: a call that names what is to be read with it is expected to read more than its bytes", () => {
  expect(expectTokens(400, { ...BOUNDS, refers: true }).input).toBe(400 + REFERRED_INPUT);
});

test("b244: each of several answers may be as long as one may be, and all together as long as 128 of them", () => {
  const output = (answers: number) => expectTokens(400, { ...BOUNDS, most: 10_000_000, answers }).output;
  expect([output(1), output(128)]).toEqual([MOST_OUTPUT, 128 * MOST_OUTPUT]);
  expect(output(Number.MAX_SAFE_INTEGER)).toBe(128 * MOST_OUTPUT);
});

test.each<[string, CallEnd, number, number]>([
  ["reports its use: what it says, the provider's tools left out", answer({ tokens: TOKENS }), 45, 0],
  ["says nothing of it: what was expected", answer({ ending: "unreported" }), 0, 1_500],
  ["cannot be read: what was expected", answer({ ending: "unread" }), 0, 1_500],
  ["reports what cannot be: no less than was expected", answer({ tokens: TOKENS, isDoubtful: true }), 45, 1_500],
  ["is cut before it reports: its input, and the most that may be written", answer({ ending: "cut" }, 90), 0, 1_090],
  ["is cut late: its input, and what was expected", answer({ ending: "cut" }, 9_000), 0, 1_500],
  ["is cut after a report: what it says", answer({ ending: "cut", tokens: TOKENS }, 4), 45, 24],
  ["is cut long after a report: the most that may be written", answer({ ending: "cut", tokens: TOKENS }, 200), 45, 220],
  [
    "is a stream that shows little and reports nothing: what was expected",
    answer({ ending: "unreported" }, 90_000, 300),
    300,
    1_500,
  ],
  [
    "is a stream that shows more than was expected: what it shows",
    answer({ ending: "unreported" }, 9e6, 60_000),
    60_000,
    1_500,
  ],
  ["is a stream that is cut before its report: what it shows", answer({ ending: "cut" }, 9e6, 60_000), 60_000, 1_500],
  ["reports more than it shows: what it reports", answer({ tokens: TOKENS }, 900, 4), 45, 0],
  ["reports less than it has events: what it reports", answer({ tokens: TOKENS }, 9_000, 400), 45, 0],
  [
    "is not believed, and shows more: what it shows",
    answer({ tokens: TOKENS, isDoubtful: true }, 9e5, 4_000),
    4_020,
    1_500,
  ],
  ["no upstream gives: nothing", NOT_DONE, 0, 0],
])("b128: an answer that %s", (_, end, reported, estimated) => {
  expect(usedTokens("openai", EXPECTED, end)).toMatchObject({ reported, estimated });
});

test("b128: what Anthropic reads from its cache does not count, as it does not for its own limits", () => {
  expect(usedTokens("anthropic", EXPECTED, answer({ tokens: TOKENS }))).toMatchObject({ reported: 38, estimated: 0 });
});

test.each<[string, CallEnd, { input: number; output: number }]>([
  ["reports its use: nothing", answer({ tokens: TOKENS }), { input: 0, output: 0 }],
  ["says nothing of it: all of it", answer({ ending: "unreported" }), EXPECTED],
  [
    "reports what cannot be: what it says less",
    answer({ tokens: TOKENS, isDoubtful: true }),
    { input: 980, output: 475 },
  ],
  [
    "is cut before it reports: its input, and the most that may be written",
    answer({ ending: "cut" }, 90),
    { input: 1_000, output: 90 },
  ],
  [
    "is cut after a report: the rest of the most that may be written",
    answer({ ending: "cut", tokens: TOKENS }, 200),
    { input: 0, output: 175 },
  ],
  ["no upstream gives: nothing", NOT_DONE, { input: 0, output: 0 }],
])("beyond what it reports is estimated, of an answer that %s", (_, end, unreported) => {
  expect(usedTokens("openai", EXPECTED, end).unreported).toEqual(unreported);
});

test("b209: upstreams that were given up count beside the answer of another one", () => {
  const { answer: answered } = answer({ tokens: TOKENS });
  expect(usedTokens("openai", EXPECTED, { answer: answered, givenUp: 2 })).toMatchObject({ reported: 45, givenUp: 2 });
  expect(usedTokens("openai", EXPECTED, { answer: undefined, givenUp: 1 })).toMatchObject({ estimated: 0, givenUp: 1 });
});
