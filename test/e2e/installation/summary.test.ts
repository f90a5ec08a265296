import { expect, it } from "vitest";
import type { FailedCall } from "./calls.ts";
import { type Run, summarize } from "./summary.ts";

const failed: FailedCall = { who: "a chat", needs: "key index", failure: 503, beganAt: 1_500, endedAt: 1_600 };
const RUN: Run = {
  ...{ seed: 7, minutes: 15 },
  struck: [
    { fault: "an outage", effect: { "key index": [503] }, from: 1_000, to: 3_000 },
    { fault: "an outage", effect: { "key index": [503] }, from: 9_000, to: 21_500 },
  ],
  calls: { make: async () => undefined, succeeded: new Map([["a chat", 1_200]]), failed: [failed, failed] },
  acts: [new Map([["rotate", 2]]), new Map([["rotate", 3]])],
  answers: new Map([
    [503, 4],
    [200, 9],
  ]),
  amounts: { secrets: 12 },
  violations: [],
};
/** The row of a table that begins so, with one space between what it says. */
const rowOf = (page: string, start: string) =>
  page
    .split("\n")
    .find((line) => line.startsWith(start))
    ?.replace(/ +/g, " ");

it("a run's page counts what struck, what was done and called, and by what it failed", () => {
  const page = summarize(RUN);
  expect(rowOf(page, "An installation")).toBe("An installation for 15 minutes by seed 7: no violations");
  expect(rowOf(page, "an outage")).toBe("an outage 2 12.5 s");
  expect(rowOf(page, "a chat  ")).toBe("a chat 1,200 2");
  expect(rowOf(page, "a chat, 503, an outage")).toBe("a chat, 503, an outage 2");
  expect(rowOf(page, "rotate")).toBe("rotate 5");
  expect(rowOf(page, "200")).toBe("200 9");
  expect(rowOf(page, "secrets")).toBe("secrets 12");
});

it("a run's page ends with what went wrong, and says of which failed calls no cause is known", () => {
  const violations = [{ rule: "I2", subject: "team/key", what: "answered with 401" }];
  const page = summarize({ ...RUN, struck: [], violations });
  expect(rowOf(page, "An installation")).toContain("1 violation");
  expect(rowOf(page, "a chat, 503")).toBe("a chat, 503, NOTHING KNOWN 2");
  expect(page.split("\n").at(-1)).toBe("VIOLATION of I2: team/key: answered with 401");
});
