import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { problem } from "./problems/problem.ts";

/** Matches a key in the form that most clients send. */
const PLAIN = /^[\x21\x23-\x7e][\x21-\x7e]{0,254}$/;
/**
 * Matches a key as a string of structured fields (RFC 9651), which draft-ietf-httpapi-idempotency-key-header asks for.
 */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"$/;

/**
 * Reads the Idempotency-Key of a request; undefined if it has none. Plain and quoted are two spellings of the same
 * value.
 *
 * @throws Problem `invalid_request` for a key that is malformed, or given twice
 */
export function readIdempotencyKey({ headers, raw }: Pick<FastifyRequest, "headers" | "raw">): string | undefined {
  const value = headers["idempotency-key"];
  if (value === undefined) return undefined;
  const key = typeof value === "string" && isOnce(raw.rawHeaders) ? keyText(value) : undefined;
  if (key === undefined) throw MALFORMED;
  return key;
}

/** Returns the SHA-256 of a text, in 32 latin1 characters. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("latin1");
}

function keyText(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  return QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, "$1");
}

/**
 * True if the header is given once. Node joins two headers of a name by a comma and a space, which a quoted key may
 * contain.
 */
function isOnce(rawHeaders: readonly string[]): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === "idempotency-key").length === 1;
}

const MALFORMED = problem(
  "invalid_request",
  "An Idempotency-Key is 1 to 255 visible ASCII characters, plain or in double quotes, given once.",
);
