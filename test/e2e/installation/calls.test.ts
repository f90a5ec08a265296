/** What judges the calls of an installation's users can find fault with them. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { MAX_RUN_MS } from "../../../store/database/memory-database.ts";
import { causeOf, type FailedCall, failureOf, recordCalls, StatusError, type Struck } from "./calls.ts";

describe("a failed call", () => {
  it("is known by the status of the SDK that made it, or of the answer", () => {
    expect(failureOf(new OpenAI.InternalServerError(503, {}, "away", new Headers()))).toBe(503);
    expect(failureOf(new StatusError(503, "away"))).toBe(503);
    expect(failureOf(new StatusError(500, "wrong"))).toContain("500: wrong");
    expect(failureOf(new OpenAI.AuthenticationError(401, {}, "no", new Headers()))).toContain("401");
  });

  it("is broken where its connection ended, however deep that is said, and not where an answer came", () => {
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    expect(failureOf(new TypeError("fetch failed", { cause: reset }))).toBe("broken");
    expect(
      failureOf(new OpenAI.APIConnectionError({ message: "no", cause: new TypeError("x", { cause: reset }) })),
    ).toBe("broken");
    expect(failureOf(new StatusError(502, "ECONNRESET of the upstream"))).toContain("502");
    expect(failureOf(new Error("answered with nothing"))).toContain("answered with nothing");
  });

  it("whose connection broke is made once more, and any other is not", async () => {
    const calls = recordCalls();
    const failures = [new TypeError("terminated"), new StatusError(503, "")];
    const next = async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return "answer";
    };
    expect(await calls.make("one", "database", next)).toBeUndefined();
    expect(calls.failed).toMatchObject([{ who: "one", failure: 503 }]);
    expect(await calls.make("one", "database", next)).toBe("answer");
    expect(calls.succeeded.get("one")).toBe(1);
  });
});

describe("a fault", () => {
  const outage: Struck = { fault: "an outage", effect: { database: [503] }, from: 1_000, to: 2_000 };
  const failed = (changed: Partial<FailedCall>): FailedCall => ({
    ...{ who: "one", needs: "database", failure: 503, beganAt: 1_500, endedAt: 1_600 },
    ...changed,
  });
  const isExplained = (changed: Partial<FailedCall>) => causeOf(failed(changed), [outage]) !== undefined;

  it("explains the failures that it says, of calls that were under way while it lasted", () => {
    expect(isExplained({})).toBe(true);
    expect(isExplained({ beganAt: 900, endedAt: 1_001 })).toBe(true);
    expect(isExplained({ beganAt: 1_999, endedAt: 9_000 })).toBe(true);
  });

  it("explains none before it or after it, no other failure, and none of what does without what it broke", () => {
    expect(isExplained({ beganAt: 900, endedAt: 999 })).toBe(false);
    expect(isExplained({ beganAt: 2_001, endedAt: 2_002 })).toBe(false);
    expect(isExplained({ failure: "broken" })).toBe(false);
    expect(isExplained({ failure: "500: wrong" })).toBe(false);
    expect(isExplained({ needs: "key index" })).toBe(false);
  });

  it("is not what has the memory stop a call that takes longer than it may", () => {
    const late = { beganAt: 3_000, endedAt: 3_000 + MAX_RUN_MS };
    expect(isExplained(late)).toBe(true);
    expect(isExplained({ ...late, failure: "broken" })).toBe(false);
    expect(isExplained({ ...late, needs: "key index" })).toBe(false);
  });
});
