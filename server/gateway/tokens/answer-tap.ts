import type { IncomingHttpHeaders } from "node:http";
import type { Dialect } from "../../../domain/access/key-record.ts";
import type { GatewayOperation } from "../../../domain/access/operations.ts";
import { type AnswerUsage, NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { AnswerReader } from "./answer-reader.ts";

/** The operations whose answers may report what the call used. */
const REPORTING: ReadonlySet<GatewayOperation> = new Set([
  "gateway.chat_completions",
  "gateway.completions",
  "gateway.responses",
  "gateway.embeddings",
  "gateway.messages",
  "gateway.generate_content",
  "gateway.stream_generate_content",
  "gateway.embed_content",
  "gateway.batch_embed_contents",
]);

const UNREAD: AnswerUsage = { tokens: NO_TOKENS, model: undefined, ending: "unread", isDoubtful: false };

/** What is shown an answer's bytes as they pass, and never holds them up. */
export type AnswerTap = {
  push(bytes: Buffer): void;
  /** @param isWhole whether the answer has come to its end */
  end(isWhole: boolean): AnswerUsage;
};

/**
 * Makes what reads an answer's usage: of one in a coding it reads nothing, and says so.
 *
 * @param status of an answer: errors use nothing
 * @returns undefined for an answer that cannot report what the call used
 */
export function openTap(
  { operation, dialect }: { readonly operation: GatewayOperation; readonly dialect: Dialect },
  status: number,
  headers: Readonly<IncomingHttpHeaders>,
): AnswerTap | undefined {
  if (!REPORTING.has(operation) || status < 200 || status >= 300) return undefined;
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding.trim().toLowerCase() !== "identity") return { push: () => {}, end: () => UNREAD };
  return new AnswerReader(dialect, /^text\/event-stream\b/i.test(headers["content-type"] ?? ""));
}
