import type { IncomingMessage } from "node:http";
import { Transform } from "node:stream";
import type { OpenCall } from "../calls/calls.ts";
import { roomFor } from "../calls/open-call.ts";
import { BodyPieces } from "../http/bodies/body-pieces.ts";
import { ReceivedBody } from "../http/bodies/received-body.ts";
import { type Problem, problem } from "../http/problems/problem.ts";

/** The largest body that is read for its model or its tokens (spec §4). */
const MAX_READ_BODY = 32 * 1024 * 1024;
/** Up to this length a body is read in whole whatever the gateway: one write to the upstream instead of a stream. */
export const SMALL_BODY: number = 64 * 1024;

/** Whether a body is one that {@link collectBody} may take. `length`: as it is declared. */
export function isSmallBody(length: number | undefined): boolean {
  return length !== undefined && length <= SMALL_BODY;
}

/**
 * Reads a small body, whose length Node's parser holds it to; calls back with the problem where there is no room for
 * it, and not at all where the client leaves before its end.
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
    const refusal = roomFor(call, chunk.length);
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
 * A body as a stream of its own, so that an upstream that fails does not take the client's socket with it.
 *
 * @param mayPass asked before each piece, and before the end
 * @param cut called instead of passing on what may not be
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
 * Reads a whole body, which is kept as long as its call lasts. A large one is to be released then
 * ({@link releaseLargeBody}).
 *
 * @param length its declared length, or undefined where it comes in chunks
 * @throws Problem 413 beyond {@link MAX_READ_BODY}: at once where the length is declared, else when it has come in; 429
 *   or 503 where there is no room for it
 */
export function readBody(request: IncomingMessage, call: OpenCall | null, length: number | undefined): Promise<Buffer> {
  if (length !== undefined && length > MAX_READ_BODY) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const pieces = new ReceivedBody();
    let isRefused = false;
    request.on("data", (chunk: Buffer) => {
      const refusal = pieces.size + chunk.length > MAX_READ_BODY ? tooLarge() : roomFor(call, chunk.length);
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
    request.once("end", () => {
      if (!isRefused) resolve(pieces.joined());
    });
    request.once("error", cutShort);
    request.once("close", cutShort);
  });
}

const CUT_SHORT = problem("invalid_request", "The body ended before its declared end.");

function tooLarge(): Problem {
  return problem(
    "payload_too_large",
    `A body that is read for its model or its tokens may have ${MAX_READ_BODY >> 20} MiB.`,
  );
}
