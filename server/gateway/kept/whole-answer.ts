import type { IncomingHttpHeaders } from "node:http";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { JsonScanner } from "../../http/bodies/json-scanner.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import type { UpstreamPath } from "../classify.ts";

/** Bytes at most of an answer that is read whole. */
export const MOST_READ = 4 << 20;
/** Values of one at most: the costliest take some 50 ms to parse, and a list of a thousand files has some 10,000. */
const ANSWER_BOUNDS = { values: 50_000, depth: 256 };
const UNSEEN = { open: () => undefined, member: () => undefined, scalar: () => {} };

/**
 * Body to answer with, or the query by which the upstream is asked for the next page, or for the same once more, which
 * then passes as it comes.
 */
export type ReadAnswer =
  | { readonly body: Buffer; readonly headers?: readonly string[] }
  | { readonly query: string; readonly passes?: true };

/** Reading of a call's answers, each of which is kept until all of it has come. */
export type AnswerReading = {
  /**
   * Takes each piece as it comes, in place of the body; left out if the body is kept. Where it takes a while, it
   * resolves once the next may come, or to the problem to answer without reading on.
   */
  readonly push?: (piece: Buffer) => Promise<Problem | undefined> | undefined;
  /** Takes a successful answer; never rejects. */
  readonly take: (
    upstream: UpstreamRecord,
    body: Buffer,
    headers: Readonly<IncomingHttpHeaders>,
    status: number,
  ) => Promise<ReadAnswer | Problem>;
};

/** Request that is made of an upstream before the call itself, and the reading of its answer. */
export type UpstreamRead = {
  readonly path: UpstreamPath;
  readonly reading: AnswerReading;
  /** Problem to answer if the upstream answers 403 or 404; left out if its own answer is passed on. */
  readonly notGiven?: Problem;
};

export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses an answer; resolves to undefined if it is no JSON object, or exceeds the bounds. */
export async function answerObject(body: Buffer): Promise<JsonObject | undefined> {
  try {
    const scan = new JsonScanner<undefined>(body, ANSWER_BOUNDS, UNSEEN, undefined);
    await inSlices((steps) => scan.run(steps));
    return objectOf(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** Answer to a call whose upstream answers in a way that is not read. */
export const UNREADABLE: Problem = problem(
  "bad_gateway",
  "The upstream's answer is not the JSON that this call has: what it names cannot be known.",
);
