import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";

export type ResponseClass = typeof ServerResponse<IncomingMessage>;
export type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * Returns headers to add to an answer's head, as alternating names and values, by its request, its given headers and
 * its status.
 */
export type HeaderAddition = (request: IncomingMessage, given: Headers, status: number) => readonly string[];

/** Makes a class of responses that adds headers to every answer, whichever part of the server sends it. */
export function withAddedHeaders(Response: ResponseClass, additions: readonly HeaderAddition[]): ResponseClass {
  function headOf(request: IncomingMessage, given: Headers = {}, status: number): Headers {
    let pairs = NOTHING;
    for (const added of additions) {
      const more = added(request, given, status);
      if (more.length > 0) pairs = pairs === NOTHING ? more : pairs.concat(more);
    }
    return withPairs(given, pairs);
  }
  return class AddingResponse extends Response {
    override writeHead(status: number, reason?: string, headers?: Headers): this;
    override writeHead(status: number, headers?: Headers): this;
    override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
      return typeof reason === "string"
        ? super.writeHead(status, reason, headOf(this.req, headers, status))
        : super.writeHead(status, headOf(this.req, reason, status));
    }
  };
}

const NOTHING: readonly string[] = [];

/** True if headers have one of a name. @param name in lower case */
export function hasHeader(headers: Headers, name: string): boolean {
  if (!Array.isArray(headers)) return name in headers;
  for (let i = 0; i < headers.length; i += 2) {
    const given = String(headers[i]);
    if (given.length === name.length && given.toLowerCase() === name) return true;
  }
  return false;
}

/** Returns headers with more pairs, as a copy, since many answers share the given object. */
function withPairs(given: Headers, pairs: readonly string[]): Headers {
  if (pairs.length === 0) return given;
  if (Array.isArray(given)) return given.concat(pairs);
  const copy = { ...given };
  for (let i = 0; i + 1 < pairs.length; i += 2) copy[pairs[i] ?? ""] = pairs[i + 1];
  return copy;
}
