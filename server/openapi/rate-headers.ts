import type { Header } from "./format.ts";

const TEXT = { type: "string" } as const;

/** Of the answers to a key that has a rate limit. */
export const RATE_HEADERS: Readonly<Record<string, Header>> = {
  "RateLimit-Policy": {
    description: "The key's rate limit, where it has one: draft-ietf-httpapi-ratelimit-headers.",
    required: false,
    schema: TEXT,
  },
  RateLimit: {
    description: "What is left of it (`r`), and in how many seconds all of it is there again (`t`).",
    required: false,
    schema: TEXT,
  },
};
