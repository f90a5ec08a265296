import { expect, test } from "vitest";
import { withFeedback } from "../../../../../memory/store/search/ranking/feedback.ts";

const SAMPLE = Array.from({ length: 50 }, (_, n) => `Note ${n} is about the roof of house ${n}.`);
const BOAT = "The boat lies in the harbour of Lerwick, behind the fish market.";
const MARKET = "The market of Lerwick opens at six.";
const LUNCH = "The canteen opens at noon.";

const ranked = async (...atoms: [text: string, score: number][]) => {
  const compared = atoms.map(([text, score]) => ({ text, score }));
  return await withFeedback(compared, { asked: "where does the boat lie", sample: SAMPLE, total: 10 });
};

test("what shares rare words with the closest atoms is closer than what has none of them", async () => {
  const [, second, third] = (await ranked([BOAT, 0.9], [LUNCH, 0.2], [MARKET, 0.2])).toSorted(
    (a, b) => b.rank - a.rank,
  );
  expect([second?.text, third?.text]).toEqual([MARKET, LUNCH]);
});

test("the words of what is far from the query count for little", async () => {
  const scoreBeside = async (score: number) =>
    (await ranked([BOAT, 0.9], [LUNCH, score], ["The canteen is shut.", 0.1])).find(({ text }) =>
      text.endsWith("shut."),
    )?.rank;
  expect(await scoreBeside(0.2)).toBeLessThan((await scoreBeside(0.8)) ?? 0);
});

test("what has half of the words does not gain more than what has all of them is ahead", async () => {
  const many = Array.from({ length: 9 }, (_, n): [string, number] => [`${MARKET} ${BOAT.slice(9)} ${n}`, 0.4]);
  const [first, ...others] = (await ranked([LUNCH, 0.8], ...many)).toSorted((a, b) => b.rank - a.rank);
  expect(first?.text).toBe(LUNCH);
  // By importance and age together, 1.2 / 0.75 as much at most.
  expect(Math.max(...others.map(({ rank }) => rank)) * (1.2 / 0.75)).toBeLessThanOrEqual(0.8);
});

test("where nothing is close, nothing changes", async () => {
  expect(await ranked([BOAT, 0], [LUNCH, 0])).toEqual([
    { text: BOAT, score: 0, rank: 0 },
    { text: LUNCH, score: 0, rank: 0 },
  ]);
  expect(await ranked()).toEqual([]);
});
