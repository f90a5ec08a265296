import type { IncomingMessage } from "node:http";

/** Up to this declared length a body is small: its end may be waited for. */
const MAX_SMALL_BODY = 64 * 1024;

/** Whether a request's head says that there is a body. */
export function hasBody(request: IncomingMessage): boolean {
  return declaredBytes(request) !== 0;
}

/** Whether all of a request's body is small by its declared length; a body in chunks, which declares none, is not. */
export function hasSmallBody(request: IncomingMessage): boolean {
  return declaredBytes(request) <= MAX_SMALL_BODY;
}

/**
 * The length of a request's body: 0 where it has none, infinite where it comes in chunks. Of the raw headers, which the
 * parser has made sure of: a flood of refusals asks for it, and would make Node write out all of `headers` for each.
 */
function declaredBytes({ rawHeaders }: IncomingMessage): number {
  let bytes = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (isNamed(name, "transfer-encoding")) return Number.POSITIVE_INFINITY;
    if (isNamed(name, "content-length")) bytes = Number(rawHeaders[i + 1]);
  }
  return bytes;
}

function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}
