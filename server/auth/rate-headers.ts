import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import type { MetRate } from "./charge-rate.ts";

const SECOND = 1e9;

/**
 * Fields of draft-ietf-httpapi-ratelimit-headers, from its eighth version on: the policies, and what is left of them.
 */
type RateHeaders = { readonly "RateLimit-Policy": string; readonly RateLimit: string };

/**
 * Returns the headers that report rate limits, each by its owner. `t` is the seconds until the whole burst is there
 * again.
 */
export function rateHeaders(rates: readonly MetRate[]): RateHeaders {
  return {
    "RateLimit-Policy": rates.map(policy).join(", "),
    RateLimit: rates.map(rest).join(", "),
  };
}

function policy({ of, limit: { requestsPerMinute, burst, unit } }: MetRate): string {
  if (unit !== undefined) return `"${of}-tokens";q=${Math.round(requestsPerMinute * unit)};w=60;qu="tokens"`;
  return `"${of}";q=${requestsPerMinute};w=60;keyplane-burst=${burst}`;
}

function rest({ of, limit: { unit }, verdict }: MetRate): string {
  const [name, remaining] = unit === undefined ? [of, verdict.remaining] : [`${of}-tokens`, verdict.remaining * unit];
  return `"${name}";r=${remaining};t=${Math.ceil(verdict.resetAfter / SECOND)}`;
}

/** Returns the seconds to wait: whole, and never none. A client that waits so long is admitted. */
export function retryAfterSeconds({ retryAfter }: RateVerdict): string {
  return String(Math.max(1, Math.ceil(retryAfter / SECOND)));
}
