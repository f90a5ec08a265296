import { expect, test } from "vitest";
import { declareLimits, limitSpec } from "../../../domain/access/declared-limits.ts";

test.each([
  [undefined, null],
  [{ concurrent: 4 }, { rate: null, concurrent: 4 }],
  [
    { tokensPerMinute: 9_000, scope: "Installation" } as const,
    { rate: null, concurrent: null, tokens: { tokensPerMinute: 9_000, scope: "Installation" } },
  ],
  [{ requestsPerMinute: 60 }, { rate: { requestsPerMinute: 60, burst: 60, scope: "Replica" }, concurrent: null }],
  [
    { requestsPerMinute: 60, burst: 5, scope: "Installation", concurrent: 4 } as const,
    { rate: { requestsPerMinute: 60, burst: 5, scope: "Installation" }, concurrent: 4 },
  ],
])("%j declares the limits %j, and is read back from them as the same", (spec, limits) => {
  const declared = declareLimits(spec);
  expect(declared).toEqual(limits);
  expect(declareLimits(declared === null ? undefined : limitSpec(declared))).toEqual(limits);
});
