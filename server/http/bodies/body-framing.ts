import type { IncomingMessage } from "node:http";

/** Maximum declared bytes of a small body, whose end may be waited for. */
const MAX_SMALL_BODY = 64 * 1024;

/** True if a request's head declares a body. */
export function hasBody(request: IncomingMessage): boolean {
  return declaredBytes(request) !== 0;
}

/**
 * True if the whole body of a request is small by its declared length. A body in chunks, which declares none, is not.
 */
export function hasSmallBody(request: IncomingMessage): boolean {
  return declaredBytes(request) <= MAX_SMALL_BODY;
}

/**
 * Returns the declared length of a request's body: 0 if it has none, infinite if it comes in chunks. Reads the raw
 * headers, which the parser has checked: in a flood of refusals, Node would build the object `headers` for each.
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
