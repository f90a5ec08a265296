import { sql } from "kysely";
import { expect, test } from "vitest";
import { nearestAtoms } from "../../../store/memory/embedding/nearest.ts";
import { saveLibrary } from "../../../store/memory/libraries.ts";
import { describeOnEachEngineWithVectors } from "../../env/database/engines.ts";
import { rowsRead } from "../../env/database/rows-read.ts";
import { libraryDraft, makeTeam, run } from "../fixtures.ts";

const ATOMS = 1_500;
/** Atoms whose vectors are compared exactly. */
const COMPARED = 400;

describeOnEachEngineWithVectors("The nearest of many atoms", (store) => {
  test("b61, b60: are found by reading their own library's rows once, and none of another team's", async () => {
    const { db } = store();
    const fill = async () => {
      const home = await makeTeam(store());
      const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home)));
      await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
        select ${libraryId}, ${home.teamId}, 'atom ' || n, '{}', 5, now(), now()
        from generate_series(1, ${ATOMS}::integer) n`.execute(db);
      await sql`insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
        select id, library_id, 1, 1, binary_quantize(v), v from (
          select *, array[sin(n), cos(n), sin(2 * n), cos(3 * n)]::real[]::vector as v
          from (select *, row_number() over (order by id) as n from atoms where library_id = ${libraryId}) a
        ) a`.execute(db);
      return { libraryId, reach: { teamId: home.teamId, libraryIds: null } };
    };
    const { libraryId, reach } = await fill();
    await fill();
    const scope = { reach, libraryIds: [libraryId], query: "", filter: {}, unindexed: [] };
    const asked = { digest: "", publicId: "", model: "", askedDimensions: null, servedBy: "", dimensions: 4 };
    const space = { ...asked, libraries: [{ id: libraryId, space: 1 }] };
    const vector = [Math.sin(7), Math.cos(7), Math.sin(14), Math.cos(21)];
    for (const statistics of [false, true]) {
      if (statistics)
        for (const table of ["atoms", "atom_embeddings"]) await sql`analyze ${sql.table(table)}`.execute(db);
      let found: string[] = [];
      const question = async (own: typeof db) => {
        found = (await nearestAtoms(own, scope, { space, vector }, 10)).map(({ id }) => id);
      };
      const embeddings = await rowsRead(db, ["atom_embeddings"], question);
      expect({ statistics, scans: embeddings.scans }).toEqual({ statistics, scans: 0 });
      expect(embeddings.rows).toBeLessThanOrEqual(ATOMS);
      const atoms = await rowsRead(db, ["atoms"], question);
      expect(atoms.scans).toBe(0);
      expect(atoms.rows).toBeLessThanOrEqual(COMPARED);
      expect(new Set(found).size).toBe(10);
    }
  });
});
