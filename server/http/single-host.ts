import { refuseConnection } from "./connections/bare-response.ts";
import type { Route } from "./connections/pipelining-limit.ts";
import { problem } from "./problems/problem.ts";

const TWO_HOSTS = problem("invalid_request", "A request has one Host line.");

/**
 * Refuses a request with two Host lines (RFC 9112 section 3.2): Node hands out the first, and a proxy may use the last.
 */
export function requireSingleHost(route: Route): Route {
  return (request, response) => {
    if (countHosts(request.rawHeaders) > 1) refuseConnection(response, TWO_HOSTS);
    else route(request, response);
  };
}

/** Counts the Host lines of a request. @param raw alternating names and values */
function countHosts(raw: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i];
    if (name?.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}
