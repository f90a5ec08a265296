import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { ServedOperation } from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import type { OnUsage } from "../tokens/answer-reader.ts";
import { openTap } from "../tokens/answer-tap.ts";
import { assertFewInterimAnswers } from "../upstream/interim-answers.ts";
import type { UpstreamPool } from "../upstream/pools.ts";
import { wasReused } from "../upstream/reused-socket.ts";

type Post = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Bytes of the answer at most. */
  readonly maxAnswer: number;
  readonly operation: ServedOperation;
  readonly dialect: Dialect;
  /** Team of the gateway. */
  readonly teamId: string;
  /** Called with what an answer reported, once it is over, however it ended. */
  readonly onUsage: OnUsage;
  /** Called once the call is on a connection: before that, no upstream has any of it, nor if this throws. */
  readonly onSent: () => void;
  /** Called once the answer's head is there, with whether {@link onUsage} will be called for it. */
  readonly onHead: (isTapped: boolean) => void;
};

export type LibraryPostAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/** Error for an answer that has more bytes than it may have. */
export class TooLongError extends Error {}

/**
 * Posts a body to an upstream, and reads the answer to its end.
 *
 * @throws TooLongError; and what undici throws, or `signal` is aborted with
 */
export async function postForLibrary(
  sockets: Pick<UpstreamPool, "pool" | "fresh" | "needle">,
  asked: Post,
): Promise<LibraryPostAnswer> {
  const { maxAnswer, onUsage } = asked;
  const { statusCode: status, headers, body: answer } = await request(sockets, asked);
  const tap = openTap(asked, status, headers, sockets.needle);
  asked.onHead(tap !== undefined);
  const pieces: Buffer[] = [];
  let length = 0;
  let isWhole = false;
  try {
    for await (const piece of answer) {
      length += piece.length;
      tap?.push(piece);
      if (length > maxAnswer) {
        // Of a refusal the status says enough.
        if (status !== 200) break;
        throw new TooLongError();
      }
      pieces.push(piece);
    }
    isWhole = true;
  } finally {
    tap?.end(isWhole, onUsage);
  }
  return { status, headers, text: Buffer.concat(pieces).toString() };
}

/**
 * Returns the beginning of an answer. If a reused socket was closed instead of an answer, it asks once more, on a fresh
 * socket.
 */
async function request(
  { pool, fresh }: Pick<UpstreamPool, "pool" | "fresh">,
  { path, headers, body, signal, onSent }: Post,
): Promise<Dispatcher.ResponseData> {
  let isSent = false;
  const noteSent = (): void => {
    onSent();
    isSent = true;
  };
  let interimAnswers = 0;
  const ask = (dispatcher: Dispatcher): Promise<Dispatcher.ResponseData> =>
    dispatcher.request({
      method: "POST",
      path,
      headers: {
        ...{ "content-type": "application/json", accept: "application/json", ...headers },
        "content-length": String(Buffer.byteLength(body)),
      },
      body: Readable.from(noted(body, noteSent)),
      signal,
      onInfo: () => assertFewInterimAnswers(++interimAnswers),
    });
  try {
    return await ask(pool);
  } catch (error) {
    if (!wasReused(error, isSent)) throw error;
    const own = fresh();
    const answer = ask(own);
    void own.close();
    return answer;
  }
}

/** Yields a body, and calls back when it is read, which is when there is a connection. */
function* noted(body: string, onRead: () => void): Generator<Buffer> {
  onRead();
  yield Buffer.from(body);
}
