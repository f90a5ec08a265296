import type { IncomingMessage } from "node:http";
import { Transform } from "node:stream";
import type { OpenCall } from "../calls/calls.ts";
import { reserveBodyBytes } from "../calls/open-call.ts";
import { BodyPieces } from "../http/bodies/body-pieces.ts";
import { ReceivedBody } from "../http/bodies/received-body.ts";
import { type Problem, problem } from "../http/problems/problem.ts";

/** Largest body that is read for its model or its tokens, in bytes (spec §4). */
const MAX_READ_BODY = 32 * 1024 * 1024;
/**
 * Largest body that is read whole whatever the gateway, in bytes: it takes one write to the upstream instead of a
 * stream.
 */
export const SMALL_BODY: number = 64 * 1024;

/** True if {@link readBody} may take a body of this declared length; undefined if the body is chunked. */
export function isReadable(length: number | undefined): boolean {
  return length === undefined || length <= MAX_READ_BODY;
}

/** True if {@link collectBody} may take a body of this declared length. */
export function isSmallBody(length: number | undefined): boolean {
  return length !== undefined && length <= SMALL_BODY;
}

/**
 * Reads a small body, whose length Node's parser enforces. Calls back with the body, or with the problem if there is no
 * memory left for it; never if the client leaves before the body's end.
 */
export function collectBody(
  request: IncomingMessage,
  call: OpenCall | null,
  use: (body: Buffer | Problem) => void,
): void {
  const pieces = new BodyPieces();
  let refused = false;
  request.on("data", (chunk: Buffer) => {
    if (refused) return;
    const refusal = reserveBodyBytes(call, chunk.length);
    if (refusal === undefined) pieces.add(chunk);
    else {
      refused = true;
      use(refusal);
    }
  });
  request.on("end", () => {
    if (!refused) use(pieces.whole());
  });
}

/**
 * Returns a body as a stream of its own, so that an upstream that fails does not take the client's socket with it.
 *
 * @param mayPass called before each piece, and before the end
 * @param cut called instead of passing on what may not pass
 */
export function passOnBody(request: IncomingMessage, mayPass: () => boolean, cut: () => void): Transform {
  const body = new Transform({
    transform: (chunk: Buffer, _encoding, pass) => (mayPass() ? pass(null, chunk) : cut()),
    flush: (pass) => (mayPass() ? pass() : cut()),
  });
  request.pipe(body);
  request.once("close", () => {
    if (!request.complete) body.destroy();
  });
  return body;
}

/**
 * Reads a whole body, which is kept as long as its call lasts. A large body is to be released then
 * ({@link releaseLargeBody}).
 *
 * @param length declared length; undefined if the body is chunked
 * @throws Problem 413 beyond {@link MAX_READ_BODY}: at once if the length is declared, else when so much has come in;
 *   429 or 503 if there is no memory left for it; 400 if it ends too early
 */
export function readBody(request: IncomingMessage, call: OpenCall | null, length: number | undefined): Promise<Buffer> {
  if (length !== undefined && length > MAX_READ_BODY) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const pieces = new ReceivedBody();
    let isRefused = false;
    request.on("data", (chunk: Buffer) => {
      const refusal = pieces.size + chunk.length > MAX_READ_BODY ? tooLarge() : reserveBodyBytes(call, chunk.length);
      if (refusal === undefined) pieces.add(chunk);
      else {
        isRefused = true;
        request.removeAllListeners("data");
        request.resume();
        pieces.release();
        reject(refusal);
      }
    });
    const cutShort = (): void => {
      pieces.release();
      reject(CUT_SHORT);
    };
    request.on("end", () => {
      if (!isRefused) resolve(pieces.joined());
    });
    request.on("error", cutShort);
    request.on("close", cutShort);
  });
}

const CUT_SHORT = problem("invalid_request", "The body ended before its declared end.");

function tooLarge(): Problem {
  return problem(
    "payload_too_large",
    `A body that is read for its model or its tokens may have ${MAX_READ_BODY >> 20} MiB.`,
  );
}
