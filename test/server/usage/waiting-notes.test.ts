/** What is noted of keys by the day. */
import { expect, test } from "vitest";
import { WaitingNotes } from "../../../server/usage/waiting-notes.ts";

/** Notes of a database that may be away. */
function waitingNotes() {
  const database = { isAway: false, written: 0 };
  const lost = { times: 0 };
  const notes = new WaitingNotes<number>({
    record: async (written) => {
      if (database.isAway) throw new Error("the database is away");
      database.written += written.length;
    },
    onLoss: () => {
      lost.times++;
    },
  });
  return { database, lost, notes };
}

test("b172: waits while the database is away, and says so where there is no room for it", async () => {
  const { database, lost, notes } = waitingNotes();
  database.isAway = true;
  notes.add(Array.from({ length: 100_000 }, (_, place) => place));
  await expect(notes.write()).rejects.toThrow("away");
  expect([notes.isWritten, lost.times]).toEqual([false, 0]);
  notes.add([100_000]);
  expect(lost.times).toBe(1);
  database.isAway = false;
  await notes.write();
  expect([notes.isWritten, database.written, lost.times]).toEqual([true, 100_000, 1]);
});
