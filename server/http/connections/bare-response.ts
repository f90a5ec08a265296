import type { ServerResponse } from "node:http";
import { type Problem, problemDocument } from "../problems/problem.ts";
import { requestIdOf } from "../request-id.ts";

/** Sends a problem document before the framework gets the request, and ends the connection. */
export function refuseConnection(response: ServerResponse, shown: Problem): void {
  const body = problemDocument(shown, requestIdOf(response.req));
  const length = Buffer.byteLength(body);
  const type = "application/problem+json";
  response.shouldKeepAlive = false;
  response.writeHead(shown.status, { ...shown.headers, "content-type": type, "content-length": length });
  response.end(body);
}
