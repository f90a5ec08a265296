import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { AnswerReader } from "../../../../server/gateway/tokens/answer-reader.ts";
import { DecodedReader } from "../../../../server/gateway/tokens/decoded-reader.ts";
import { unique } from "../../../store/fixtures.ts";

it.each(["gzip", "deflate"])(
  "b250: beside one team's answers in %s that never end, other teams' are read",
  async (coding) => {
    const opened: DecodedReader[] = [];
    const openAll = (teamId: string): number => {
      const before = opened.length;
      const open = () => DecodedReader.open(new AnswerReader("openai", true), coding, teamId);
      for (let one = open(); one !== undefined; one = open()) opened.push(one);
      return opened.length - before;
    };
    const places = ["hostile", "other", "third"].map(openAll);
    await Promise.all(opened.map((one) => new Promise<unknown>((resolve) => one.end(false, resolve))));
    expect(Math.min(...places)).toBeGreaterThan(0);
  },
);

const USAGE = JSON.stringify({ usage: { prompt_tokens: 3, completion_tokens: 5 } });

/** How an answer's usage is read that came whole, and how much was decoded of it. */
function read(teamId: string, compressed: Buffer): Promise<{ ending: string; decoded: number }> {
  const reader = new AnswerReader("openai", true);
  const opened = DecodedReader.open(reader, "gzip", teamId);
  if (opened === undefined) return Promise.resolve({ ending: "unread", decoded: 0 });
  opened.push(compressed);
  return new Promise((resolve) => {
    opened.end(true, ({ ending }, { most }) => resolve({ ending, decoded: most }));
  });
}

it("b280: of one team's answers of 80 kB that unfold to 30 MB each few are decoded to their end, and other teams' are read", async () => {
  const bomb = gzipSync(Buffer.alloc(30 << 20, 'data: {"usage":{"prompt_tokens":1}}\n\n'));
  const [hostile, other] = [unique("hostile"), unique("other")];
  const bombs = Array.from({ length: 20 }, () => read(hostile, bomb));
  // As a stream of 10,000 tokens.
  const usual = gzipSync(`${`data: ${"{}".repeat(150)}\n\n`.repeat(10_000)}data: ${USAGE}\n\n`);
  expect((await read(other, usual)).ending).toBe("reported");
  const ended = await Promise.all(bombs);
  expect(ended.filter(({ ending }) => ending === "unread").length).toBeGreaterThan(10);
  const decoded = ended.reduce((sum, answer) => sum + answer.decoded, 0);
  expect(decoded).toBeLessThan((20 * (30 << 20)) / 2);
});

it("b280: of one team as many usual answers are read at once as there are places", async () => {
  const usual = gzipSync(
    `${`data: {"id":"${unique("")}","choices":[{"text":"a"}]}\n\n`.repeat(1_000)}data: ${USAGE}\n\n`,
  );
  const team = unique("team");
  const answers = await Promise.all(Array.from({ length: 192 }, () => read(team, usual)));
  expect(new Set(answers.map(({ ending }) => ending))).toEqual(new Set(["reported"]));
});
