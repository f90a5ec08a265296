import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { passagesOf } from "../../../../domain/passages.ts";
import { takeBatch } from "../../../../memory/store/embedding/embedding-leases.ts";
import { correctAtom, deleteAtom } from "../../../../memory/store/writes/atom-writes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { startWaiting } from "./waiting-library.ts";

const LONG = "Nothing of note was said on that day.\n".repeat(150);
const FURTHER = passagesOf(LONG).length - 1;

/** The revisions of an atom's further passages. */
async function further(store: Store, atomId: string): Promise<number[]> {
  const { rows } = await sql<{ revision: number }>`
    select revision from atom_passages where atom_id = ${atomId} order by passage`.execute(store.db);
  return rows.map(({ revision }) => revision);
}

export function passagesOfLongAtoms(store: () => Store): void {
  describe("The passages of a long atom", () => {
    test("have a vector each, which a correction replaces together, and which go with the atom", async () => {
      const { reach, atomId, begin, embedded, states } = await startWaiting(store(), LONG);
      await (await embedded(await begin()))();
      expect(await states()).toEqual({ vectors: 1, queued: 0 });
      expect(await further(store(), atomId)).toEqual(Array(FURTHER).fill(1));
      const correct = (content: string) =>
        correctAtom(store().db, reach, atomId, { expected: null, at: Date.now(), content });
      await correct(LONG.slice(0, -1_000));
      await (await embedded(await begin()))();
      const fewer = passagesOf(LONG.slice(0, -1_000)).length - 1;
      expect(fewer).toBeLessThan(FURTHER);
      expect(await further(store(), atomId)).toEqual(Array(fewer).fill(2));
      await correct("Short.");
      await (await embedded(await begin()))();
      expect([await further(store(), atomId), await states()]).toEqual([[], { vectors: 1, queued: 0 }]);
      await correct(LONG);
      await (await embedded(await begin()))();
      await deleteAtom(store().db, reach, atomId, null);
      expect([await further(store(), atomId), await states()]).toEqual([[], { vectors: 0, queued: 0 }]);
    });

    test("are in no turn of other atoms where they fill a request", async () => {
      const { save, begin } = await startWaiting(store(), LONG.repeat(10));
      for (let n = 0; n < 3; n++) await save(LONG);
      const lease = await begin();
      const batch = await takeBatch(store(), lease);
      expect(batch.map(({ passages }) => passages.length)).toEqual([passagesOf(LONG.repeat(10)).length]);
    });
  });
}
