import type { Dialect } from "../../domain/access/key-record.ts";
import { AnswerReader } from "../../server/gateway/tokens/answer-reader.ts";
import { figure, median, table } from "./table.ts";

const ROUNDS = 7;
/** Of a case, in bytes that are read in one round. */
const ROUND_BYTES = 100e6;
/** Of a stream. */
const EVENTS = 200;

type Case = {
  readonly what: string;
  readonly dialect: Dialect;
  readonly isEvents: boolean;
  /** An answer's pieces. */
  readonly pieces: readonly Buffer[];
};

const usage = {
  prompt_tokens: 100,
  completion_tokens: 50,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 20 },
};
const chunk = { id: "chatcmpl-0123456789", object: "chat.completion.chunk", created: 1, model: "gpt-5-mini" };
const choices = [{ index: 0, delta: { content: " a few words" }, logprobs: null, finish_reason: null }];
const usageMetadata = { promptTokenCount: 30, candidatesTokenCount: 12, thoughtsTokenCount: 6, totalTokenCount: 48 };
const candidates = [{ content: { parts: [{ text: " a few words" }], role: "model" }, index: 0 }];

const CASES: readonly Case[] = [
  {
    what: "an answer of 1 KB",
    ...{ dialect: "openai", isEvents: false },
    pieces: [json({ ...chunk, choices: [{ message: { role: "assistant", content: "word ".repeat(130) } }], usage })],
  },
  {
    what: "an event without a usage",
    ...{ dialect: "openai", isEvents: true },
    pieces: Array<Buffer>(EVENTS).fill(event({ ...chunk, choices })),
  },
  {
    what: "an event whose usage is null",
    ...{ dialect: "openai", isEvents: true },
    pieces: Array<Buffer>(EVENTS).fill(event({ ...chunk, choices, usage: null })),
  },
  {
    what: "an event with a usage",
    ...{ dialect: "gemini", isEvents: true },
    pieces: Array<Buffer>(EVENTS).fill(event({ candidates, usageMetadata, modelVersion: "gemini-2.5-pro" })),
  },
  {
    what: "64 KB of a text",
    ...{ dialect: "openai", isEvents: false },
    pieces: [json({ ...chunk, choices: [{ message: { content: "word ".repeat(13_000) } }], usage })],
  },
  {
    what: "64 KB of vectors as numbers",
    ...{ dialect: "openai", isEvents: false },
    pieces: [json({ data: [{ embedding: Array.from({ length: 3_400 }, (_, i) => Math.sin(i)) }], usage })],
  },
];

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function event(data: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}

/** Measures what it takes to read the usage out of answers, as it is read while they pass: CPU of the thread. */
export async function benchTokens(): Promise<string> {
  const rows = CASES.map((each) => {
    const rounds = Array.from({ length: ROUNDS }, () => microsecondsOf(each));
    const [piece] = each.pieces;
    return [each.what, figure(piece?.length ?? 0), figure(median(rounds), 2)];
  });
  return table(["the usage of an answer, read as it passes", "bytes", "us"], rows);
}

/** For each piece. */
function microsecondsOf({ dialect, isEvents, pieces }: Case): number {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const answers = Math.ceil(ROUND_BYTES / bytes);
  const before = process.threadCpuUsage();
  for (let i = 0; i < answers; i++) {
    const reader = new AnswerReader(dialect, isEvents);
    for (const piece of pieces) reader.push(piece);
    reader.end(true);
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / (answers * pieces.length);
}
