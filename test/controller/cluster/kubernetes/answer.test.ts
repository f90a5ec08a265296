import { expect, test } from "vitest";
import { retryDelayOf } from "../../../../controller/cluster/kubernetes/api/answer.ts";

test.each([
  ["1", 0, 1_000],
  ["1", 0.98, 1_490],
  ["25", 0.98, 30_000],
  ["30", 0.98, 30_000],
  ["3600", 0.98, 30_000],
  [undefined, 0, 1_000],
  ["Wed, 21 Oct 2026 07:28:00 GMT", 0, 1_000],
])(
  "a busy API server that asks for %s s is asked again as late, and after 30 s at most",
  (retryAfter, random, delayMs) => {
    expect(retryDelayOf({ status: 429, retryAfter, text: "" }, () => random)).toBe(delayMs);
  },
);
