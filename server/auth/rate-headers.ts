import type { RateLimit, RateVerdict } from "../../domain/access/rate-limit.ts";

const SECOND = 1e9;

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers, from its eighth version on: the policy, and what is left of it.
 */
type RateHeaders = { readonly "RateLimit-Policy": string; readonly RateLimit: string };

/** The headers that report a key's rate limit. `t` is the seconds until the whole burst is there again. */
export function rateHeaders({ requestsPerMinute, burst }: RateLimit, verdict: RateVerdict): RateHeaders {
  return {
    "RateLimit-Policy": `"key";q=${requestsPerMinute};w=60;keyplane-burst=${burst}`,
    RateLimit: `"key";r=${verdict.remaining};t=${Math.ceil(verdict.resetAfter / SECOND)}`,
  };
}

/** Whole seconds, never none: a client that waits so long is admitted. */
export function retryAfterSeconds({ retryAfter }: RateVerdict): string {
  return String(Math.max(1, Math.ceil(retryAfter / SECOND)));
}
