import { sql } from "kysely";
import { expect, test } from "vitest";
import { recallAtoms } from "../../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../../memory/store/search/atom-search.ts";
import { nearestAtoms } from "../../../../../memory/store/search/candidates/nearest.ts";
import { saveLibrary } from "../../../../../store/libraries/libraries.ts";
import { describeOnEachEngineWithVectors } from "../../../../env/database/engines.ts";
import { rowsRead } from "../../../../env/database/rows-read.ts";
import { NIGHTLY } from "../../../../env/nightly.ts";
import { libraryDraft, makeTeam, run } from "../../../../store/fixtures.ts";
import { dropPartsIndex } from "../../filled-library.ts";

const ATOMS = NIGHTLY ? 1_500 : 450;
/** Atoms whose vectors are compared exactly. */
const COMPARED = 400;

describeOnEachEngineWithVectors("The nearest of many atoms", (store) => {
  test("b61, b60: are found by reading their own library's rows once, and none of another team's", async () => {
    const { db } = store();
    await dropPartsIndex(db);
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
    const scope = { reach, libraryIds: [libraryId], query: "", filter: {}, lexemes: new Map(), hasReplacing: false };
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

  test("are not crowded out by the passages of long ones", async () => {
    const { db } = store();
    const home = await makeTeam(store());
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home)));
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select ${libraryId}, ${home.teamId}, 'atom ' || n, '{}', 5, now(), now() from generate_series(1, 30) n`.execute(
      db,
    );
    await sql`insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
      select id, library_id, 1, 1, binary_quantize(v), v from (
        select *, '[1,1,1,-1]'::vector as v from atoms where library_id = ${libraryId}) a`.execute(db);
    // Twelve atoms have passages that are nearer than any first one, more than are compared exactly.
    await sql`insert into atom_passages (atom_id, library_id, passage, space, revision, signature, embedding)
      select atom_id, library_id, passage, 1, 1, binary_quantize('[1,1,1,1]'::vector), '[1,1,1,1]'::vector
      from (select * from atom_embeddings where library_id = ${libraryId} order by atom_id limit 12) long,
        generate_series(1, 39) passage`.execute(db);
    const scope = {
      ...{ reach: { teamId: home.teamId, libraryIds: null }, libraryIds: [libraryId], query: "", filter: {} },
      ...{ lexemes: new Map(), hasReplacing: false },
    };
    const asked = { digest: "", publicId: "", model: "", askedDimensions: null, servedBy: "", dimensions: 4 };
    const space = { ...asked, libraries: [{ id: libraryId, space: 1 }] };
    expect(await nearestAtoms(db, scope, { space, vector: [1, 1, 1, 1] }, 50)).toHaveLength(30);
  });

  test("are each found once, by the nearest of their passages", async () => {
    const { db } = store();
    const home = await makeTeam(store());
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home)));
    const { rows } = await sql<{ id: string }>`
      insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select ${libraryId}, ${home.teamId}, 'atom ' || n, '{}', 5, now(), now() from generate_series(1, 9) n
      returning id::text`.execute(db);
    const ids = rows.map(({ id }) => id).toSorted();
    await sql`insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
      select id, library_id, 1, 1, binary_quantize(v), v from (
        select *, '[1,0,0,-1]'::vector as v from atoms where library_id = ${libraryId}) a`.execute(db);
    // Of the first atom one passage means what is asked for, and of all the others none of 39.
    await sql`insert into atom_passages (atom_id, library_id, passage, space, revision, signature, embedding)
      select atom_id, library_id, passage, 1, 1, binary_quantize(v), v from (
        select atom_id, library_id, passage,
          case when atom_id = ${ids[0]}::uuid and passage = 20 then '[0,1,1,0]' else '[0,0,-1,1]' end::vector as v
        from atom_embeddings, generate_series(1, 39) passage where library_id = ${libraryId}) made`.execute(db);
    const scope = {
      reach: { teamId: home.teamId, libraryIds: null },
      libraryIds: [libraryId],
      query: "",
      filter: {},
      lexemes: new Map(),
      hasReplacing: false,
    };
    const asked = { digest: "", publicId: "", model: "", askedDimensions: null, servedBy: "", dimensions: 4 };
    const space = { ...asked, libraries: [{ id: libraryId, space: 1 }] };
    const found = await nearestAtoms(db, scope, { space, vector: [0, 1, 1, 0] }, 20);
    expect(found[0]).toMatchObject({ id: ids[0], nearness: 1 });
    expect(found.map(({ id }) => id).toSorted()).toEqual(ids);
  });

  test("count as much beside the words in a search that none of them answers as where a topic is recalled", async () => {
    const { db } = store();
    const home = await makeTeam(store());
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home)));
    const contents = ["The blue kettle was bought in spring", "Its handle is of wood"];
    for (let n = 0; n < 60; n++) contents.push(`Note ${n} about the weather`);
    const near = [0.8, 0, 0.6, 0];
    await sql`with made as (
        insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
        select ${libraryId}, ${home.teamId}, content, '{}', 5, now(), now() from unnest(${contents}::text[]) content
        returning id, library_id, content
      )
      insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
      select id, library_id, 1, 1, binary_quantize(v), v from (
        select *, case when content = ${contents[1]} then ${JSON.stringify(near)} else '[0,1,0,0]' end::vector as v from made
      ) embedded`.execute(db);
    const model = { digest: "", publicId: "", model: "", askedDimensions: null, servedBy: "", dimensions: 4 };
    const meaning = [{ space: { ...model, libraries: [{ id: libraryId, space: 1 }] }, vector: [1, 0, 0, 0] }];
    const reach = { teamId: home.teamId, libraryIds: null };
    const asked = {
      libraryId,
      tags: [],
      query: "who bought the blue kettle in spring at the market",
      limit: 2,
      meaning,
    };
    const searched = (await searchAtoms(db, reach, asked)).items.map(({ atom }) => atom.content);
    const recalled = (await recallAtoms(db, reach, asked)).atoms.map(({ content }) => content);
    expect([searched, recalled]).toEqual([contents.slice(0, 2), contents.slice(0, 2)]);
  });
});
