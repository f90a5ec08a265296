import type { IncomingMessage } from "node:http";
import { problem } from "../errors.ts";
import { BodyPieces } from "../http/body-pieces.ts";

/** The largest body that is read for its model (spec §4). */
const MAX_READ_BODY = 32 * 1024 * 1024;
/** Up to this length a body is read in whole whatever the gateway: one write to the upstream instead of a stream. */
const SMALL_BODY = 64 * 1024;

/** Whether a body is one that {@link collectBody} may take. `length`: as it is declared. */
export function isSmallBody(length: number | undefined): boolean {
  return length !== undefined && length <= SMALL_BODY;
}

/** Reads a small body, whose length Node's parser holds it to; does not call back where the client leaves before its end. */
export function collectBody(request: IncomingMessage, use: (body: Buffer) => void): void {
  const pieces = new BodyPieces();
  request.on("data", (chunk: Buffer) => pieces.add(chunk));
  request.on("end", () => use(pieces.whole()));
}

/**
 * Reads a whole body.
 *
 * @param length its declared length, or undefined where it comes in chunks
 * @throws Problem 413 beyond {@link MAX_READ_BODY}: at once where the length is declared, else when it has come in
 */
export function readBody(request: IncomingMessage, length: number | undefined): Promise<Buffer> {
  if (length !== undefined && length > MAX_READ_BODY) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces();
    request.on("data", (chunk: Buffer) => {
      if (pieces.size + chunk.length > MAX_READ_BODY) {
        request.removeAllListeners("data");
        request.resume();
        reject(tooLarge());
      } else pieces.add(chunk);
    });
    request.once("end", () => resolve(pieces.whole()));
    request.once("error", () => reject(CUT_SHORT));
    request.once("close", () => reject(CUT_SHORT));
  });
}

const CUT_SHORT = problem("invalid_request", "The body ended before its declared end.");

function tooLarge(): Error {
  return problem("payload_too_large", `A body whose model decides its route may have ${MAX_READ_BODY >> 20} MiB.`);
}
