import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { compareMeanings } from "../../../../memory/store/embedding/alike.ts";
import type { Store } from "../../../../store/database/store.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { rowsRead } from "../../../env/database/rows-read.ts";
import { libraryDraft, makeTeam, run } from "../../../store/fixtures.ts";

/** Stores atoms of a library of their own, by their vectors; null for one that has none. */
async function storeVectors(store: Store, vectors: readonly (readonly number[] | null)[]): Promise<string[]> {
  const home = await makeTeam(store);
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, libraryDraft(home)));
  const { rows } = await sql<{ id: string }>`
    insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
    select ${libraryId}, ${home.teamId}, 'an atom', '{}', 5, now(), now()
    from generate_series(1, ${vectors.length}::integer) returning id::text`.execute(store.db);
  const ids = rows.map(({ id }) => id);
  await sql`insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
    select id, ${libraryId}, 1, 1, binary_quantize(v::vector), v::vector
    from unnest(${ids}::uuid[], ${vectors.map((vector) => vector && JSON.stringify(vector))}::text[]) as given (id, v)
    where v is not null`.execute(store.db);
  return ids;
}

/** Of as many numbers as there are atoms: as good as nothing in common with any other. */
const apart = (at: number): number[] => Array.from({ length: 8 }, (_, n) => (n === at ? 1 : 0.2));

export function alikeInMeaning(store: () => Store): void {
  describe("How alike two atoms are in meaning", () => {
    test("is shown by their vectors, above what any two of the answer have in common", async () => {
      const close = apart(0).map((number, at) => (at === 1 ? number + 0.2 : number));
      const ids = await storeVectors(store(), [apart(0), close, ...[2, 3, 4, 5, 6].map(apart), null]);
      const [first = "", second = "", third = ""] = ids;
      const none = ids.at(-1) ?? "";
      const alike = await compareMeanings(store().db, ids, 1);
      expect(alike(first, second)).toBeGreaterThan(0.9);
      expect(Math.abs(alike(first, third) ?? 1)).toBeLessThan(0.2);
      expect([alike(first, none), alike(none, first), alike(second, first)]).toEqual([undefined, undefined, undefined]);
    });

    test("is not known of atoms of two libraries, nor of vectors that are all the same", async () => {
      const [one = ""] = await storeVectors(store(), [apart(0)]);
      const same = await storeVectors(
        store(),
        Array.from({ length: 7 }, () => apart(0)),
      );
      const [first = "", second = ""] = same;
      const alike = await compareMeanings(store().db, [...same, one], 8);
      expect(alike(first, one)).toBeUndefined();
      expect(alike(first, second)).toBe(0);
    });

    test("is taken as it is with most models where the answer has two atoms", async () => {
      const [first = "", second = ""] = await storeVectors(store(), [
        [1, 0],
        [0.99, 0.1],
      ]);
      const alike = await compareMeanings(store().db, [first, second], 2);
      expect(alike(first, second)).toBeGreaterThan(0.9);
    });

    test("is found by reading the vectors of these atoms alone, without statistics too", async () => {
      const ids = await storeVectors(
        store(),
        Array.from({ length: 300 }, (_, n) => apart(n % 8)),
      );
      const asked = ids.slice(0, 20);
      const read = await rowsRead(store().db, ["atom_embeddings"], (db) => compareMeanings(db, asked, 10));
      expect(read.scans).toBe(0);
      expect(read.rows).toBe(20);
    });
  });
}
