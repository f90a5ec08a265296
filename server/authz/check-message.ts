/** Messages of gRPC, as streams of HTTP/2 bring them. */
import type { ServerHttp2Stream } from "node:http2";
import type { OpenBody, OpenStreams } from "../calls/calls.ts";
import { CUT_PROBLEMS } from "../calls/open-call.ts";
import { ReceivedBody, releaseLargeBody } from "../http/bodies/received-body.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { PREFIX } from "./check-answer.ts";

/** Bytes of the longest message: the largest body that is read, with the rest of its request. */
const MAX_MESSAGE = 33 << 20;
/** Milliseconds for which a message that has begun may stand still. */
const STILL_MS = 15_000;
/** Number of messages in several pieces so far. */
let messages = 0;

const TOO_LONG = problem(
  "payload_too_large",
  `The proxy shows the verifier more than ${MAX_MESSAGE >> 20} MiB of this request: send less, or have its operator lower max_request_bytes.`,
);
const NO_MESSAGE = problem("invalid_request", "The proxy's question is no single message of gRPC, uncompressed.");

/** Message, whose memory is released once it is answered. */
export type CheckMessage = { readonly bytes: Buffer; release(): void };

/**
 * Reads the one message of a stream. Calls back once, with the message or the problem to answer; never if the stream
 * ends otherwise.
 */
export function readCheckMessage(
  streams: Pick<OpenStreams, "openBody">,
  stream: ServerHttp2Stream,
  use: (message: CheckMessage | Problem) => void,
): void {
  let first: Buffer | undefined;
  let rest: LongMessage | undefined;
  stream.on("data", (piece: Buffer) => {
    if (first === undefined) {
      first = piece;
      return;
    }
    rest ??= new LongMessage(streams, stream, first, use);
    rest.add(piece);
  });
  stream.on("end", () => {
    if (rest !== undefined) rest.end();
    else use(messageIn(first ?? NOTHING, ignore));
  });
}

/** Message that comes in several pieces. */
class LongMessage {
  readonly #received = new ReceivedBody();
  readonly #kept: OpenBody;
  readonly #use: (message: CheckMessage | Problem) => void;
  #isOver = false;

  constructor(
    streams: Pick<OpenStreams, "openBody">,
    stream: ServerHttp2Stream,
    first: Buffer,
    use: (message: CheckMessage | Problem) => void,
  ) {
    this.#use = use;
    const request = {
      get complete() {
        return stream.readableEnded;
      },
    };
    // Whose it is stands behind the body: it is no one's part. If memory is short, what is held back makes way first.
    const holder = `authz ${++messages}`;
    this.#kept = streams.openBody({ keyId: holder, teamId: holder }, request, () => this.#refuse(CUT_PROBLEMS.no_room));
    stream.setTimeout(STILL_MS, () => this.#refuse(CUT_PROBLEMS.slow_body));
    stream.once("close", () => this.#drop());
    this.add(first);
  }

  add(piece: Buffer): void {
    if (this.#isOver) return;
    if (this.#received.size + piece.length > PREFIX + MAX_MESSAGE) this.#refuse(TOO_LONG);
    else if (this.#kept.keep(piece.length) !== undefined) this.#refuse(CUT_PROBLEMS.no_room);
    else this.#received.add(piece);
  }

  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const bytes = await this.#received.joined();
    this.#use(
      messageIn(bytes, () => {
        releaseLargeBody(bytes);
        this.#kept.end();
      }),
    );
  }

  #refuse(shown: Problem): void {
    if (this.#isOver) return;
    this.#drop();
    this.#use(shown);
  }

  #drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#received.release();
    this.#kept.end();
  }
}

/** Returns the message in the bytes of a stream. */
function messageIn(bytes: Buffer, release: () => void): CheckMessage | Problem {
  if (bytes.length >= PREFIX && bytes[0] === 0 && bytes.readUInt32BE(1) === bytes.length - PREFIX) {
    return { bytes: bytes.subarray(PREFIX), release };
  }
  release();
  return NO_MESSAGE;
}

const NOTHING = Buffer.alloc(0);
const ignore = (): void => {};
