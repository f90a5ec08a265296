import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";

export type ResponseClass = typeof ServerResponse<IncomingMessage>;
export type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * Makes a class of responses that all say something more in their heads, whatever answers and however.
 *
 * @param added names and values in turn, by the request, what its answer's head is given, and its status
 */
export function withAddedHeaders(
  Response: ResponseClass,
  added: (request: IncomingMessage, given: Headers, status: number) => readonly string[],
): ResponseClass {
  return class AddingResponse extends Response {
    override writeHead(status: number, reason?: string, headers?: Headers): this;
    override writeHead(status: number, headers?: Headers): this;
    override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
      const add = (given: Headers = {}) => withPairs(given, added(this.req, given, status));
      return typeof reason === "string"
        ? super.writeHead(status, reason, add(headers))
        : super.writeHead(status, add(reason));
    }
  };
}

/** A copy: many answers share what they are given. */
function withPairs(given: Headers, pairs: readonly string[]): Headers {
  if (pairs.length === 0) return given;
  if (Array.isArray(given)) return [...given, ...pairs];
  const copy = { ...given };
  for (let i = 0; i + 1 < pairs.length; i += 2) copy[pairs[i] ?? ""] = pairs[i + 1];
  return copy;
}
