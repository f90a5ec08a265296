import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type Problem, problem } from "../http/problems/problem.ts";

/** Requests whose client waits for `100 Continue` before it sends a body, and those with an unknown expectation. */
const expecting = new WeakMap<IncomingMessage, "100-continue" | "unknown">();

const UNKNOWN = problem("expectation_failed");

/**
 * Takes over the `Expect` header, which Node would answer by itself before any hook runs. The request is routed as any
 * other, and its expectation is met by {@link meetExpectation} alone.
 */
export function holdExpectations(
  server: Server,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    expecting.set(request, "100-continue");
    route(request, response);
  });
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    expecting.set(request, "unknown");
    route(request, response);
  });
}

/**
 * Asks for the body if the client waits to be asked: the request has been authorised.
 *
 * @returns the refusal of an expectation that cannot be met
 */
export function meetExpectation(request: IncomingMessage, response: ServerResponse): Problem | undefined {
  const expected = expecting.get(request);
  if (expected === "100-continue") response.writeContinue();
  return expected === "unknown" ? UNKNOWN : undefined;
}
