import type { IncomingHttpHeaders } from "node:http";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import type { UpstreamPath } from "../classify.ts";

/** Bytes at most of an answer that is read whole. */
export const MOST_READ = 4 << 20;

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

/** Parses an answer; undefined if it is no JSON object. */
export function answerObject(body: Buffer): JsonObject | undefined {
  try {
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
