/** What is noted of keys by the day, until it is written. */
import { expect, test } from "vitest";
import { WaitingNotes } from "../../../server/usage/waiting-notes.ts";

/** Notes of a database that may be away. */
function waitingNotes() {
  const database = { isAway: false, written: 0, losses: 0 };
  const refuseWhileAway = () => {
    if (database.isAway) throw new Error("the database is away");
  };
  const notes = new WaitingNotes<number>({
    record: async (written) => {
      refuseWhileAway();
      database.written += written.length;
    },
    recordLoss: async () => {
      refuseWhileAway();
      database.losses++;
    },
  });
  return { database, notes };
}

test("b172: that there was no room for notes is recorded once the database is there", async () => {
  const { database, notes } = waitingNotes();
  database.isAway = true;
  notes.add(Array.from({ length: 100_000 }, (_, place) => place));
  await expect(notes.write()).rejects.toThrow("away");
  database.isAway = false;
  await notes.write();
  expect(database).toMatchObject({ written: 100_000, losses: 0 });
  notes.add(Array.from({ length: 100_001 }, (_, place) => place));
  database.isAway = true;
  await expect(notes.write()).rejects.toThrow("away");
  database.isAway = false;
  await notes.write();
  expect(database).toMatchObject({ written: 200_000, losses: 1 });
  await notes.write();
  expect(database.losses).toBe(1);
});
