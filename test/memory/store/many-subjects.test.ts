import { type Kysely, sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Reach } from "../../../domain/access/reach.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import { countAtoms } from "../../../memory/store/lists/library-summary.ts";
import { findAtoms } from "../../../memory/store/rows/atoms.ts";
import { recallAtoms } from "../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../memory/store/search/atom-search.ts";
import { insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { findNearDuplicates } from "../../../memory/store/writes/near-duplicates.ts";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import type { Database } from "../../../store/database/schema.ts";
import { findBindings } from "../../../store/keys/search/identified-keys.ts";
import { listLibraries, openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { listRetainedLibraries, listSubjects } from "../../../store/libraries/subjects.ts";
import { listObjects } from "../../../store/objects/objects.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../libraries.ts";
import { dropPartsIndex } from "./filled-library.ts";
import { PLAIN } from "./plain-atom.ts";
import { noteRowsRead, rowsRead } from "./rows-read.ts";

const SUBJECTS = 20_000;
const LIBRARY = "lib-diary";
const WHOLE: Reach = { teamId: "team-a", libraryIds: null };
const ONE: Reach = { ...WHOLE, subject: "user-777" };
const page = { libraryId: null, after: null, limit: 20 };
const search = { libraryId: null, limit: 20, query: "coffee" };
type Db = Kysely<Database>;

const QUESTIONS: readonly (readonly [string, (db: Db, reach: Reach) => Promise<unknown>])[] = [
  ["a page", (db, reach) => listAtoms(db, reach, page)],
  ["a page of a tag", (db, reach) => listAtoms(db, reach, { ...page, tags: ["drinks"] })],
  ["a search", (db, reach) => searchAtoms(db, reach, search)],
  ["what is recalled", (db, reach) => recallAtoms(db, reach, search)],
  ["how many there are", (db, reach) => countAtoms(db, reach, LIBRARY)],
  ["near-duplicates", (db, reach) => findNearDuplicates(db, reach, LIBRARY, "Likes coffee.")],
  ["atoms by id", async (db, reach) => findAtoms(db, reach, ["00000000-0000-7000-8000-000000000000"])],
  ["libraries", (db, reach) => listLibraries(db, reach, { after: null, limit: 20 })],
  ["libraries that are retained", (db) => listRetainedLibraries(db, { limit: 20 })],
  ["subjects", (db) => listSubjects(db, LIBRARY, { limit: 20 })],
];

/** About libraries, whatever is in them. */
const ABOUT_LIBRARIES: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
  ["what a text names that keys are bound to", (db) => findBindings(db, "diary", ["team-b"])],
  ["the same for all teams", (db) => findBindings(db, "diary", undefined)],
  ["all libraries", (db) => listObjects(db, "library", { limit: 100 })],
  ["those of a team", (db) => listObjects(db, "library", { teamIds: ["team-b"], limit: 100 })],
];

describeOnEitherEngine("A library of 20,000 subjects", (store) => {
  beforeAll(async () => {
    const { db } = store();
    await addTeamsWithLibraries(store());
    await dropPartsIndex(db);
    await sql`insert into libraries (id, cluster, namespace, name, team_id, display_name, description, deletion_policy,
        state, parent_id, subject)
      select 'part_' || n, '', '', 'part_' || n, 'team-a', '', '', 'Delete', 'of_subject', ${LIBRARY}, 'user-' || n
      from generate_series(1, ${SUBJECTS}::integer) n`.execute(db);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select 'part_' || n, 'team-a', 'Likes coffee.', array['drinks'], 5, now(), now()
      from generate_series(1, ${SUBJECTS}::integer, 10) n`.execute(db);
    await migrate(store());
    for (const reach of [WHOLE, ONE]) {
      const libraryId = (await openLibrary(db, reach, LIBRARY)) ?? "";
      await insertAtom(db, reach, { ...PLAIN, content: "Likes coffee.", tags: ["drinks"], libraryId, at: Date.now() });
    }
    await noteRowsRead(db);
  });

  test.for(["without statistics", "with statistics"])(
    "b120, b247: no question of one of them, for what is shared, or about libraries reads the others' rows, %s",
    async (statistics) => {
      const { db } = store();
      if (statistics === "with statistics") await sql`analyze atoms, libraries`.execute(db);
      for (const [name, question] of ABOUT_LIBRARIES) {
        const { scans, rows } = await rowsRead(db, question, "libraries");
        expect({ name, scans, isBounded: rows < 200 || rows }).toEqual({ name, scans: 0, isBounded: true });
      }
      for (const [name, question] of QUESTIONS) {
        for (const reach of [WHOLE, ONE]) {
          const of = { name, of: reach.subject ?? "all" };
          for (const table of ["atoms", "libraries"] as const) {
            const { scans, rows } = await rowsRead(db, (each) => question(each, reach), table);
            expect({ ...of, table, scans, isBounded: rows < 200 || rows }).toEqual({
              ...of,
              table,
              scans: 0,
              isBounded: true,
            });
          }
        }
      }
    },
  );
});
