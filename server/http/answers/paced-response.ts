import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Problem, problem, problemDocument } from "../problems/problem.ts";
import { requestIdOf } from "../request-id.ts";
import { SAFE_METHODS } from "../safe-methods.ts";
import type { AnswerBudget, FullOf, HeldAnswer } from "./answer-budget.ts";
import { cutConnection } from "./cut-connection.ts";
import { ownerOf, type Requester } from "./owner.ts";

/** Size of a piece in bytes. A longer answer is written in pieces, each after the piece before has left the process. */
export const PIECE = 64 << 10;
/** Bytes that are taken for an answer that may be large, before it is made. */
export const RESERVED_PAGE_BYTES = 1 << 20;

/** Problems for a caller whose answer finds no memory budget. */
const REFUSALS: Readonly<Record<FullOf, Problem>> = {
  key: problem(
    "rate_limited",
    "Your unread answers have reached their limit of memory: read them, or try again later.",
    { "retry-after": "1" },
  ),
  team: problem("rate_limited", "Your team's unread answers have reached their limit of memory: try again later.", {
    "retry-after": "1",
  }),
  process: problem("unavailable", "This server holds as many answers as it can: try again."),
};

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Callback = (error?: Error | null) => void;

/**
 * Response that holds no more than its memory budget allows (threats b109). A small response without a reservation is
 * sent as usual.
 */
export abstract class PacedResponse extends ServerResponse<IncomingMessage> {
  /** Caller whose budget is taken. */
  asker: Requester | undefined;
  /** True if the process keeps the body for all: each reader of it holds one piece. */
  isShared = false;
  protected abstract readonly budget: AnswerBudget;
  #answer: HeldAnswer | undefined;
  /** Body that replaces an answer without budget; empty if its connection was cut. */
  #refusal: string | undefined;
  #isEnding = false;

  static {
    // The framework reads it to see if there is an answer already; Node's types have it as a field.
    Object.defineProperty(PacedResponse.prototype, "writableEnded", {
      get(this: PacedResponse) {
        return this.#isEnding || this.finished;
      },
    });
  }

  /**
   * Takes budget for an answer that is not made yet; once for each response.
   *
   * @returns problem to answer if there is no budget
   */
  reserve(bytes: number): Problem | undefined {
    // A closed response emits no event that would give the budget back.
    if (this.#answer !== undefined || this.destroyed) return undefined;
    const taken = this.budget.take(ownerOf(this.asker), bytes, () => cutConnection(this.req.socket));
    if (typeof taken === "string") return REFUSALS[taken];
    this.#answer = taken;
    this.once("close", () => taken.end());
    return undefined;
  }

  override writeHead(status: number, reason?: string, headers?: Headers): this;
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    const length = lengthIn(typeof reason === "string" ? headers : reason);
    const refusal = this.#settle(length);
    if (refusal !== undefined) return this.#refuse(refusal);
    return typeof reason === "string" ? super.writeHead(status, reason, headers) : super.writeHead(status, reason);
  }

  override write(chunk: unknown, callback?: Callback): boolean;
  override write(chunk: unknown, encoding: BufferEncoding, callback?: Callback): boolean;
  override write(chunk: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    const as = typeof encoding === "function" ? undefined : encoding;
    const then = typeof encoding === "function" ? encoding : callback;
    const answer = this.#answer;
    if (answer === undefined) return super.write(chunk, as ?? "utf8", then);
    const bytes = bytesOf(chunk);
    if (bytes > answer.held && answer.settle(bytes) !== undefined) {
      this.#cut();
      return false;
    }
    answer.send();
    return super.write(chunk, as ?? "utf8", (error) => {
      answer.progress(0);
      then?.(error);
    });
  }

  override end(callback?: () => void): this;
  override end(chunk: unknown, callback?: () => void): this;
  override end(chunk: unknown, encoding: BufferEncoding, callback?: () => void): this;
  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void), callback?: () => void): this {
    if (this.#refusal !== undefined) return this.#refusal === "" ? this : super.end(this.#refusal);
    const as = typeof encoding === "function" ? undefined : encoding;
    const then = typeof encoding === "function" ? encoding : callback;
    if (this.#isEnding) return this;
    if (isLarge(chunk) && this.req.method !== "HEAD" && !this.destroyed) {
      return this.#endInPieces(typeof chunk === "string" ? Buffer.from(chunk, as ?? "utf8") : chunk, then);
    }
    this.#answer?.send();
    return super.end(chunk, as ?? "utf8", then);
  }

  #endInPieces(body: Uint8Array, callback: (() => void) | undefined): this {
    // If its head has declared its length, this is settled already.
    if (this.#settle(body.length) !== undefined) return this.#cut();
    this.#isEnding = true;
    let sent = 0;
    const next = (error?: Error | null): void => {
      if (error || this.destroyed) return;
      const piece = body.subarray(sent, sent + PIECE);
      sent += piece.length;
      this.#answer?.send();
      if (sent === body.length) {
        super.end(piece, "utf8", callback);
        return;
      }
      super.write(piece, "utf8", (failure) => {
        this.#answer?.progress(this.isShared ? 0 : piece.length);
        next(failure);
      });
    };
    next();
    return this;
  }

  /** Holds as many bytes as the answer has. @returns problem to answer if there is no budget */
  #settle(length: number | undefined): Problem | undefined {
    if (length === undefined || this.req.method === "HEAD") return undefined;
    const bytes = this.isShared ? Math.min(length, PIECE) : length;
    if (this.#answer === undefined) return length > PIECE ? this.reserve(bytes) : undefined;
    const full = this.#answer.settle(bytes);
    return full && REFUSALS[full];
  }

  #refuse(shown: Problem): this {
    // A call that has changed something must not look refused.
    if (!SAFE_METHODS.has(this.req.method ?? "")) return this.#cut();
    const body = problemDocument(shown, requestIdOf(this.req));
    this.#refusal = body;
    const type = "application/problem+json";
    const length = Buffer.byteLength(body);
    // Through this class's own method, which adds the headers of every answer.
    return this.writeHead(shown.status, { ...shown.headers, "content-type": type, "content-length": length });
  }

  #cut(): this {
    this.#refusal = "";
    cutConnection(this.req.socket);
    return this;
  }
}

/**
 * Takes budget for the answer to a call that is about to query the database. @returns problem to answer if there is
 * none
 */
export function reserveAnswer(response: ServerResponse): Problem | undefined {
  return response instanceof PacedResponse ? response.reserve(RESERVED_PAGE_BYTES) : undefined;
}

/** Returns the length that a head declares in an object of headers, such as the framework's. */
function lengthIn(headers: Headers | undefined): number | undefined {
  if (headers === undefined || Array.isArray(headers)) return undefined;
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

function isLarge(chunk: unknown): chunk is string | Uint8Array {
  if (typeof chunk === "string") return chunk.length > PIECE / 4 && Buffer.byteLength(chunk) > PIECE;
  return chunk instanceof Uint8Array && chunk.length > PIECE;
}

function bytesOf(chunk: unknown): number {
  if (typeof chunk === "string") return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.length : 0;
}
