import { expect, test } from "vitest";
import type { AnswerUsage } from "../../../../domain/usage/tokens.ts";
import { chargedBatch, withoutResults } from "../../../../server/gateway/kept/batch-answer.ts";
import { type JsonObject, MOST_READ } from "../../../../server/gateway/kept/whole-answer.ts";
import { Problem, problem } from "../../../../server/http/problems/problem.ts";
import { PROVIDER_KEY, upstreamOf } from "../gateway.ts";

const FULL = problem("unavailable", "There is no memory left: try again.");
const UPSTREAM = upstreamOf("http://upstream", "gemini");
const NO_BODY = Buffer.alloc(0);
const batchOf = (model: string, text = "Hi") => ({
  ...{ name: "batches/b", metadata: { model }, done: true },
  response: {
    inlinedResponses: [{ response: { candidates: [{ text }], usageMetadata: { promptTokenCount: 5 } } }],
  },
});

/** A reading with so much memory and so many turns; it notes what it counts and which turns it takes. */
function reading({ memory = Number.POSITIVE_INFINITY, turn }: { memory?: number; turn?: () => void } = {}) {
  const counted: AnswerUsage[] = [];
  let [left, turns] = [memory, 0];
  const batch = chargedBatch({
    query: "",
    reserve(bytes) {
      left -= bytes;
      return left < 0 ? FULL : undefined;
    },
    async takeTurn() {
      turns++;
      return turn ?? FULL;
    },
    recordYields: async () => undefined,
    charge: async (_, onFirst) => void onFirst(),
    count: (usage) => counted.push(usage),
  });
  return {
    counted,
    turns: () => turns,
    push: async (text: string | Buffer) => batch.push?.(Buffer.from(text)),
    take: () => batch.take(UPSTREAM, NO_BODY, {}, 200),
  };
}

test("b414: the model of a batch counts without the credential that an upstream may write there", async () => {
  const { push, take, counted } = reading();
  await push(JSON.stringify(batchOf(`models/${PROVIDER_KEY}`)));
  expect(await take()).toMatchObject({ body: expect.any(Buffer) });
  expect(counted).toMatchObject([{ tokens: { input: 5 } }]);
  expect(JSON.stringify(counted)).not.toContain(PROVIDER_KEY);
});

test("b414: a description that is too long to be held is read in a turn, which ends once it is charged", async () => {
  let ended = 0;
  const long = Buffer.from(JSON.stringify(batchOf("m", "x".repeat(MOST_READ))));
  const { push, take, turns } = reading({ turn: () => void ended++ });
  expect([await push(long.subarray(0, 9)), turns()]).toEqual([undefined, 0]);
  expect([await push(long.subarray(9)), turns(), ended]).toEqual([undefined, 1, 0]);
  expect(await take()).toEqual({ query: "", passes: true });
  expect([turns(), ended]).toEqual([1, 1]);
  expect(await reading().push(long)).toBe(FULL);
});

test("b414: what is held of a description, and what is left of it without its results, takes memory of its call", async () => {
  const text = JSON.stringify(batchOf("m", "x".repeat(1_000)));
  // Enough for what is left, and not for what is held.
  expect(await reading({ memory: 500 }).push(text)).toBe(FULL);
  const rest = reading({ memory: text.length });
  expect(await rest.push(text)).toBe(FULL);
  expect(await reading({ memory: 3 * text.length }).push(text)).toBeUndefined();
  let read: JsonObject | undefined;
  const list = (bytes: number) =>
    withoutResults(
      {
        async take(_, body) {
          read = JSON.parse(body.toString());
          return { body };
        },
      },
      (needed) => (needed > bytes ? FULL : undefined),
    );
  expect(await list(10).push?.(Buffer.from(text))).toBe(FULL);
  const whole = list(500);
  expect(await whole.push?.(Buffer.from(text))).toBeUndefined();
  expect(await whole.take(UPSTREAM, NO_BODY, {}, 200)).not.toBeInstanceOf(Problem);
  expect(read).toMatchObject({ response: { inlinedResponses: {} } });
});

test("b414: a list of batches takes memory for the largest of its pages, of which it holds one at a time", async () => {
  let taken = 0;
  const reading = withoutResults({ take: async (_, body) => ({ body }) }, (bytes) => {
    taken += bytes;
    return undefined;
  });
  const page = Buffer.from(JSON.stringify(batchOf("m")));
  await reading.push?.(page);
  await reading.take(UPSTREAM, NO_BODY, {}, 200);
  const ofOne = taken;
  await reading.push?.(page);
  expect([taken > 0, taken]).toEqual([true, ofOne]);
});
