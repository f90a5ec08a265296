import type { Header } from "./format.ts";

const TEXT = { type: "string" } as const;

/** Headers of the answers to a key that has a rate limit. */
export const RATE_HEADERS: Readonly<Record<string, Header>> = {
  "RateLimit-Policy": {
    description:
      "The rate limits of the key and of its team, where they have any, and at a gateway those of tokens: draft-ietf-httpapi-ratelimit-headers.",
    required: false,
    schema: TEXT,
  },
  RateLimit: {
    description: "What is left of each (`r`), and in how many seconds all of it is there again (`t`).",
    required: false,
    schema: TEXT,
  },
};
