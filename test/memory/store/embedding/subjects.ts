import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { claimEmbedding, clearSome, walkSome } from "../../../../memory/store/embedding/embedding-leases.ts";
import { nearestAtoms, questionSpaces } from "../../../../memory/store/search/candidates/nearest.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { openLibrary } from "../../../../store/libraries/reachable-libraries.ts";
import { unique } from "../../../store/fixtures.ts";
import { PLAIN } from "../plain-atom.ts";
import { startWaiting } from "./waiting-library.ts";

export function subjectsInEmbeddedLibraries(store: () => Store): void {
  describe("What a subject has in an embedded library", () => {
    async function start() {
      const waiting = await startWaiting(store());
      const { db } = store();
      const { libraryId, reach } = waiting;
      const ana = { ...reach, subject: unique("ana") };
      const ben = { ...reach, subject: unique("ben") };
      const save = async (as: Reach, content = "One's own.") => {
        const into = (await openLibrary(db, as, libraryId)) ?? "";
        return (await insertAtom(db, as, { ...PLAIN, content, libraryId: into, at: Date.now() }))?.id ?? "";
      };
      const ids = { shared: waiting.atomId, ana: await save(ana), ben: await save(ben) };
      const embedAll = async () => (await waiting.embedded(await waiting.begin()))();
      const near = async (as: Reach) => {
        const [space] = (await questionSpaces(db, as, libraryId)) ?? [];
        if (space === undefined) return [];
        const libraryIds = space.libraries.map(({ id }) => id);
        const scope = { reach: as, libraryIds, query: "", filter: {}, lexemes: new Map(), hasReplacing: false };
        return (await nearestAtoms(db, scope, { space, vector: [1, 2] }, 10)).map(({ id }) => id).sort();
      };
      return { ...waiting, ana, ben, ids, embedAll, near };
    }

    test("is embedded in its library's turn, and is near to that subject's questions alone", async () => {
      const { embedAll, near, reach, ana, ben, ids } = await start();
      await embedAll();
      expect(await near(reach)).toEqual([ids.shared]);
      expect(await near(ana)).toEqual([ids.shared, ids.ana].sort());
      expect(await near(ben)).toEqual([ids.shared, ids.ben].sort());
    });

    test("is walked, part by part, where the library was there before its model", async () => {
      const { db } = store();
      const { declare, libraryId, embedAll, near, ana, ids } = await start();
      await embedAll();
      await declare("large");
      await sql`update library_embeddings set due_at = '-infinity' where library_id = ${libraryId}`.execute(db);
      await sql`delete from embedding_queue where library_id = ${libraryId}`.execute(db);
      const lease = await claimEmbedding(store(), "00000000-0000-4000-8000-000000000000");
      if (lease === undefined) throw new Error("there is a lease");
      const isWalked = async () =>
        (
          await sql<{ done: boolean }>`select is_walked as done from library_embeddings
          where library_id = ${libraryId}`.execute(db)
        ).rows[0]?.done;
      let walks = 0;
      while (!(await isWalked()) && walks < 10) {
        await walkSome(store(), lease);
        walks++;
      }
      expect(walks).toBe(3);
      await sql`update library_embeddings set claim = null where library_id = ${libraryId}`.execute(db);
      await embedAll();
      expect(await near(ana)).toEqual([ids.shared, ids.ana].sort());
    });

    test("loses its vectors as its library does", async () => {
      const { db } = store();
      const { libraryId, embedAll } = await start();
      await embedAll();
      await sql`update library_embeddings set is_ended = true, due_at = '-infinity' where library_id = ${libraryId}`.execute(
        db,
      );
      for (let leases = 0; leases < 5; leases++) {
        const lease = await claimEmbedding(store(), "00000000-0000-4000-8000-000000000000");
        if (lease !== undefined) await clearSome(store(), lease);
      }
      const { rows } = await sql`select from atom_embeddings v join libraries l on l.id = v.library_id
        where l.id = ${libraryId} or l.parent_id = ${libraryId}`.execute(db);
      expect(rows).toEqual([]);
    });
  });
}
