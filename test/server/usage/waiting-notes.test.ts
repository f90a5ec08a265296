/** What is noted of keys by the day. */
import { expect, test } from "vitest";
import { WaitingNotes } from "../../../server/usage/waiting-notes.ts";

type Note = { readonly place: number };

const notesOf = (teamId: string, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ teamId, place: from + i }));

/** Notes of a database that may be away. */
function waitingNotes() {
  const written: Note[] = [];
  const database = { isAway: false, written };
  const lost = { times: 0 };
  const notes = new WaitingNotes<Note>({
    nameOf: ({ place }) => String(place),
    record: async (noted) => {
      if (database.isAway) throw new Error("the database is away");
      written.push(...noted);
    },
    atOnce: 1_000,
    onLoss: () => {
      lost.times++;
    },
  });
  return { database, lost, notes };
}

test("b172: waits while the database is away, and says so where there is no room for it", async () => {
  const { database, lost, notes } = waitingNotes();
  database.isAway = true;
  notes.add(notesOf("a", 0, 100_000));
  await expect(notes.write()).rejects.toThrow("away");
  expect([notes.isWritten, lost.times]).toEqual([false, 0]);
  notes.add(notesOf("a", 100_000, 1));
  expect(lost.times).toBe(1);
  database.isAway = false;
  await notes.write();
  expect([notes.isWritten, database.written.length, lost.times]).toEqual([true, 100_000, 1]);
});

test("b245: what is noted of one team's keys waits however much there is of another's", async () => {
  const { database, lost, notes } = waitingNotes();
  database.isAway = true;
  notes.add(notesOf("a", 0, 100_000));
  notes.add(notesOf("b", 200_000, 20));
  await expect(notes.write()).rejects.toThrow("away");
  expect(lost.times).toBe(20);
  database.isAway = false;
  await notes.write();
  expect(database.written).toHaveLength(100_000);
  expect(database.written.filter(({ place }) => place >= 200_000)).toHaveLength(20);
});
