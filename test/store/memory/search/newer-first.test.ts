import { expect, test } from "vitest";
import { type Answering, newerFirst, type PlacedAtom } from "../../../../store/memory/search/newer-first.ts";

const OLDER = "The staging database listens on port 5433 of host tern.";
const NEWER = "Moved: the staging database is on host kestrel, port 6432 now.";
const LUNCH = "Lunch is at noon, in the room by the harbour.";
/** Texts of the same library, in which most of these words are rare. */
const SAMPLE = Array.from({ length: 50 }, (_, n) => `Note ${n} is about the roof of house ${n}.`);

/** As if saved so many days after the first. */
function atom(text: string, day: number, place: Partial<PlacedAtom> = {}): PlacedAtom {
  return { id: text, text, updatedMs: day * 86_400_000, closeness: 1, match: "nearest", isExtracted: false, ...place };
}

/** Asked for with many words, where no model compares the atoms. */
const QUESTION: Answering = { sample: SAMPLE, isQuestion: true, alike: () => undefined };

const orderedFor = async (answering: Partial<Answering>, ...atoms: PlacedAtom[]) =>
  (await newerFirst(atoms, { ...QUESTION, ...answering })).map(({ text }) => text);
const ordered = (...atoms: PlacedAtom[]) => orderedFor({}, ...atoms);

test("what is newer comes before what is about the same", async () => {
  expect(await ordered(atom(OLDER, 0), atom(LUNCH, 3), atom(NEWER, 9, { closeness: 0.4 }))).toEqual([
    NEWER,
    OLDER,
    LUNCH,
  ]);
});

test("what is older stays behind", async () => {
  expect(await ordered(atom(NEWER, 9), atom(OLDER, 0))).toEqual([NEWER, OLDER]);
});

test("what a model took out of a conversation passes nothing that was written", async () => {
  const extracted = { isExtracted: true };
  expect(await ordered(atom(OLDER, 0), atom(NEWER, 9, extracted))).toEqual([OLDER, NEWER]);
  expect(await ordered(atom(OLDER, 0, extracted), atom(NEWER, 9, extracted))).toEqual([NEWER, OLDER]);
  expect(await ordered(atom(OLDER, 0, extracted), atom(NEWER, 9))).toEqual([NEWER, OLDER]);
});

test("what is newer and about something else stays behind", async () => {
  expect(await ordered(atom(OLDER, 0), atom(LUNCH, 9))).toEqual([OLDER, LUNCH]);
});

test("what is newer and answers far less passes nothing", async () => {
  expect(await ordered(atom(OLDER, 0), atom(NEWER, 9, { closeness: 0.25 }))).toEqual([OLDER, NEWER]);
});

test("what has all words as they stand gives way to what has not, only where a question was asked", async () => {
  const [exact, similar] = [atom(OLDER, 0, { match: "words" }), atom(NEWER, 9, { match: "similar" })];
  expect(await ordered(exact, similar)).toEqual([NEWER, OLDER]);
  expect(await orderedFor({ isQuestion: false }, exact, similar)).toEqual([OLDER, NEWER]);
  expect(await orderedFor({ isQuestion: false }, exact, { ...similar, match: "words" })).toEqual([NEWER, OLDER]);
});

test("what a model takes for the same is passed, whatever the words are, and what it does not is not", async () => {
  const french = "La base de données de préproduction écoute sur le port 6432.";
  const [exact, newer] = [atom(OLDER, 0, { match: "words" }), atom(french, 9, { closeness: 0.3 })];
  const says = (alike: number | undefined) => orderedFor({ isQuestion: false, alike: () => alike }, exact, newer);
  expect(await says(0.8)).toEqual([french, OLDER]);
  for (const alike of [0.6, undefined]) expect(await says(alike)).toEqual([OLDER, french]);
});

test("none is lost and none is there twice, however many there are", async () => {
  const many = Array.from({ length: 120 }, (_, n) => atom(n % 2 === 0 ? OLDER : NEWER, (n * 7) % 50, { id: `${n}` }));
  const ids = (await newerFirst(many, QUESTION)).map(({ id }) => id);
  expect(ids).toHaveLength(120);
  expect(new Set(ids)).toEqual(new Set(many.map(({ id }) => id)));
});

test("atoms without a word in common, or without any word, keep their order", async () => {
  expect(await ordered(atom("", 0), atom("", 1), atom("？", 2))).toEqual(["", "", "？"]);
  expect(await newerFirst([], QUESTION)).toEqual([]);
});
