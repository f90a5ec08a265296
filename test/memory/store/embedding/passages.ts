import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { passagesOf } from "../../../../domain/passages.ts";
import { takeBatch } from "../../../../memory/store/embedding/turns.ts";
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

/** Embeds the atoms of a library that are due by now, each by its beginning alone. */
async function embedBeginnings({ db }: Store, libraryId: string): Promise<string[]> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string; revision: number }>`
      with q as materialized (
        select atom_id, tries, due_at from embedding_queue
        where library_id = ${libraryId} and due_at <= clock_timestamp() order by due_at, atom_id limit 32
      )
      select a.id, a.revision from q join atoms a on a.id = q.atom_id`.execute(tx);
    const keys = sql`${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ revision }) => revision)}::integer[]`;
    await sql`
      insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
      select a.id, a.library_id, 1, a.revision, binary_quantize('[1,2]'::vector), '[1,2]'::vector
      from unnest(${keys}) as given (id, revision) join atoms a on a.id = given.id and a.revision = given.revision
      for key share of a
      on conflict (library_id, atom_id) do update set space = excluded.space, revision = excluded.revision,
        signature = excluded.signature, embedding = excluded.embedding`.execute(tx);
    await sql`delete from embedding_queue q using unnest(${keys}) as given (id, revision)
      where q.atom_id = given.id and q.revision = given.revision`.execute(tx);
    return rows.map(({ id }) => id);
  });
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
      const turn = await begin();
      const batch = await takeBatch(store(), turn);
      expect(batch.map(({ passages }) => passages.length)).toEqual([passagesOf(LONG.repeat(10)).length]);
    });

    test("are embedded in the end where its beginning alone was embedded", async () => {
      const { libraryId, reach, atomId, begin, embedded, states } = await startWaiting(store(), LONG);
      for (const revision of [1, 2]) {
        expect(await embedBeginnings(store(), libraryId)).toEqual([atomId]);
        expect([await further(store(), atomId), await states()]).toEqual([[], { vectors: 1, queued: 1 }]);
        expect(await embedBeginnings(store(), libraryId)).toEqual([]);
        await (await embedded(await begin()))();
        expect(await further(store(), atomId)).toEqual(Array(FURTHER).fill(revision));
        expect(await states()).toEqual({ vectors: 1, queued: 0 });
        const patch = { expected: null, at: Date.now(), content: `${LONG}Corrected.` };
        await correctAtom(store().db, reach, atomId, patch);
      }
    });
  });
}
