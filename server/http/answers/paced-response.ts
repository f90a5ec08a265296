import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Problem, problem, problemDocument } from "../problems/problem.ts";
import { requestIdOf } from "../request-id.ts";
import { SAFE_METHODS } from "../safe-methods.ts";
import type { AnswerRoom, FullOf, HeldAnswer } from "./answer-room.ts";
import { cutConnection } from "./cut-connection.ts";
import { ownerOf, type Requester } from "./owner.ts";

/** Answers beyond this are written in pieces of it, each once the one before has left the process; in bytes. */
export const PIECE = 64 << 10;
/** What is taken for an answer that may be large, before it is made; in bytes. */
export const PAGE_ROOM = 1 << 20;

/** The problem for a caller whose answer finds no room. */
const NO_ROOM: Readonly<Record<FullOf, Problem>> = {
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
 * A response that holds no more than there is room for (threats b109). A small one that nothing was reserved for goes
 * its usual way.
 */
export abstract class PacedResponse extends ServerResponse<IncomingMessage> {
  /** Whose room is taken. */
  asker: Requester | undefined;
  /** Whether the body is one that the process keeps for all: a reader of it holds one piece. */
  isShared = false;
  protected abstract readonly room: AnswerRoom;
  #answer: HeldAnswer | undefined;
  /** What is sent in place of an answer that found no room; empty where its connection was cut. */
  #refusal: string | undefined;
  #isEnding = false;

  static {
    // The framework asks by it whether there is an answer already; Node's types have it as a field.
    Object.defineProperty(PacedResponse.prototype, "writableEnded", {
      get(this: PacedResponse) {
        return this.#isEnding || this.finished;
      },
    });
  }

  /**
   * Takes room for an answer that is not made yet; once for each response.
   *
   * @returns the problem to answer where there is none
   */
  reserve(bytes: number): Problem | undefined {
    // Of a response that is closed no event would come to give it back.
    if (this.#answer !== undefined || this.destroyed) return undefined;
    const taken = this.room.take(ownerOf(this.asker), bytes, () => cutConnection(this.req.socket));
    if (typeof taken === "string") return NO_ROOM[taken];
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
    const [as, then] = typeof encoding === "function" ? [undefined, encoding] : [encoding, callback];
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
    const [as, then] = typeof encoding === "function" ? [undefined, encoding] : [encoding, callback];
    if (this.#isEnding) return this;
    if (isLarge(chunk) && this.req.method !== "HEAD" && !this.destroyed) {
      return this.#endInPieces(typeof chunk === "string" ? Buffer.from(chunk, as ?? "utf8") : chunk, then);
    }
    this.#answer?.send();
    return super.end(chunk, as ?? "utf8", then);
  }

  #endInPieces(body: Uint8Array, callback: (() => void) | undefined): this {
    // Where its head has said how long it is, that is settled already.
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

  /** Holds what the answer really is. */
  #settle(length: number | undefined): Problem | undefined {
    if (length === undefined || this.req.method === "HEAD") return undefined;
    const bytes = this.isShared ? Math.min(length, PIECE) : length;
    if (this.#answer === undefined) return length > PIECE ? this.reserve(bytes) : undefined;
    const full = this.#answer.settle(bytes);
    return full && NO_ROOM[full];
  }

  #refuse(shown: Problem): this {
    // What a call has changed is not to be taken for refused.
    if (!SAFE_METHODS.has(this.req.method ?? "")) return this.#cut();
    const body = problemDocument(shown, requestIdOf(this.req));
    this.#refusal = body;
    const type = "application/problem+json";
    const length = Buffer.byteLength(body);
    // As any other head: what every answer says, this one does.
    return this.writeHead(shown.status, { ...shown.headers, "content-type": type, "content-length": length });
  }

  #cut(): this {
    this.#refusal = "";
    cutConnection(this.req.socket);
    return this;
  }
}

/** Takes room for the answer to a call that is about to ask the database; the problem to answer where there is none. */
export function roomForAnswer(response: ServerResponse): Problem | undefined {
  return response instanceof PacedResponse ? response.reserve(PAGE_ROOM) : undefined;
}

/** The length that a head declares as an object of headers, such as the framework's. */
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
