import { expect, test } from "vitest";
import { newerFirst, type PlacedAtom } from "../../../../store/memory/search/newer-first.ts";

const OLDER = "The staging database listens on port 5433 of host tern.";
const NEWER = "Moved: the staging database is on host kestrel, port 6432 now.";
const LUNCH = "Lunch is at noon, in the room by the harbour.";
/** Texts of the same library, in which most of these words are rare. */
const SAMPLE = Array.from({ length: 50 }, (_, n) => `Note ${n} is about the roof of house ${n}.`);

/** As if saved so many days after the first. */
function atom(text: string, day: number, place: Partial<PlacedAtom> = {}): PlacedAtom {
  return { id: text, text, updatedMs: day * 86_400_000, rank: 1, match: "nearest", isAnswer: true, ...place };
}

const ordered = async (...atoms: PlacedAtom[]) => (await newerFirst(atoms, SAMPLE)).map(({ text }) => text);

test("what is newer comes before what is about the same", async () => {
  expect(await ordered(atom(OLDER, 0), atom(LUNCH, 3), atom(NEWER, 9, { rank: 0.4 }))).toEqual([NEWER, OLDER, LUNCH]);
});

test("what is older stays behind", async () => {
  expect(await ordered(atom(NEWER, 9), atom(OLDER, 0))).toEqual([NEWER, OLDER]);
});

test("what is newer and about something else stays behind", async () => {
  expect(await ordered(atom(OLDER, 0), atom(LUNCH, 9))).toEqual([OLDER, LUNCH]);
});

test.each([
  ["has a single one of the words that are asked for", { isAnswer: false }],
  ["answers far less", { rank: 0.3 }],
])("what is newer and %s passes nothing", async (_, place) => {
  expect(await ordered(atom(OLDER, 0), atom(NEWER, 9, place))).toEqual([OLDER, NEWER]);
});

test("what has all words as they stand gives way only to what has them too", async () => {
  const ticket = atom(OLDER, 0, { match: "words" });
  expect(await ordered(ticket, atom(NEWER, 9, { match: "similar" }))).toEqual([OLDER, NEWER]);
  expect(await ordered(ticket, atom(NEWER, 9, { match: "words" }))).toEqual([NEWER, OLDER]);
});

test("none is lost and none is there twice, however many there are", async () => {
  const many = Array.from({ length: 120 }, (_, n) => atom(n % 2 === 0 ? OLDER : NEWER, (n * 7) % 50, { id: `${n}` }));
  const ids = (await newerFirst(many, SAMPLE)).map(({ id }) => id);
  expect(ids).toHaveLength(120);
  expect(new Set(ids)).toEqual(new Set(many.map(({ id }) => id)));
});

test("atoms without a word in common, or without any word, keep their order", async () => {
  expect(await ordered(atom("", 0), atom("", 1), atom("？", 2))).toEqual(["", "", "？"]);
  expect(await newerFirst([], [])).toEqual([]);
});
