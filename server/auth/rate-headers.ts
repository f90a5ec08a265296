import type { IncomingMessage } from "node:http";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import { type HeaderAddition, hasHeader } from "../http/answers/added-headers.ts";
import type { MetRate } from "./charge-rate.ts";

const SECOND = 1e9;
const NOTHING: readonly string[] = [];
/** Property of a request that holds the rate limits that it was judged by last. */
const RATES = Symbol("the request's rate limits");
type JudgedRequest = IncomingMessage & { [RATES]?: readonly MetRate[] };

/** Has the head of a request's answer report rate limits, whatever the answer will be. */
export function noteRates(request: JudgedRequest, rates: readonly MetRate[]): void {
  if (rates.length > 0) request[RATES] = rates;
}

/**
 * Adds the fields of draft-ietf-httpapi-ratelimit-headers, from its eighth version on, unless an upstream sends its own:
 * the policies, each by its owner, and what is left of them. `t` is the seconds until the whole burst is there again.
 */
export const addRateHeaders: HeaderAddition = (request: JudgedRequest, given) => {
  const rates = request[RATES];
  if (rates === undefined) return NOTHING;
  const added: string[] = [];
  if (!hasHeader(given, "ratelimit-policy")) added.push("RateLimit-Policy", rates.map(policy).join(", "));
  if (!hasHeader(given, "ratelimit")) added.push("RateLimit", rates.map(rest).join(", "));
  return added;
};

function policy({ of, limit: { requestsPerMinute, burst, unit } }: MetRate): string {
  if (unit !== undefined) return `"${of}-tokens";q=${Math.round(requestsPerMinute * unit)};w=60;qu="tokens"`;
  return `"${of}";q=${requestsPerMinute};w=60;keyplane-burst=${burst}`;
}

function rest({ of, limit: { unit }, verdict }: MetRate): string {
  const name = unit === undefined ? of : `${of}-tokens`;
  return `"${name}";r=${verdict.remaining * (unit ?? 1)};t=${Math.ceil(verdict.resetAfter / SECOND)}`;
}

/** Returns the seconds to wait: whole, and never none. A client that waits so long is admitted. */
export function retryAfterSeconds({ retryAfter }: RateVerdict): string {
  return String(Math.max(1, Math.ceil(retryAfter / SECOND)));
}
