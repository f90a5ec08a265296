import { sql } from "kysely";
import { nearestAtoms, type QuestionVector } from "../../memory/store/search/candidates/nearest.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { maintainTables } from "../../store/database/table-upkeep.ts";
import { createDatabase } from "../env/database/databases.ts";
import { addTeamsWithLibraries } from "../memory/libraries.ts";
import { COST_HEADS, type Cost, cells, measure, onPGlite } from "./questions.ts";
import { figure, table } from "./table.ts";

const ATOMS = Number(process.env.KEYPLANE_BENCH_ATOMS ?? 100_000);
const DIMENSIONS = 768;
/** Vectors lie around so many centres, as those of texts about as many topics do. */
const CENTRES = 200;
/** Rows of one statement. */
const CHUNK = 1_000;

const LIBRARY = "lib-diary";
const REACH = { teamId: "team-a", libraryIds: null };
const SCOPE = { reach: REACH, libraryIds: [LIBRARY], query: "", filter: {}, lexemes: new Map(), hasReplacing: false };

/** One number of a vector around its centre, made of its place in it and the centre's own number. */
const NUMBER = sql`sin(at * (1 + centre)) + (random() - 0.5)`;

/**
 * Asks a library of 100,000 atoms with vectors of 768 numbers for the nearest, on the embedded database, and on a
 * PostgreSQL with pgvector where KEYPLANE_BENCH_POSTGRES has the URL of one's superuser.
 */
export async function benchSemantic(): Promise<string> {
  const server = process.env.KEYPLANE_BENCH_POSTGRES;
  const postgres = server === undefined ? undefined : await onPostgres(server);
  const heads = [`${figure(ATOMS)} vectors of ${DIMENSIONS} numbers`, ...COST_HEADS];
  return table(heads, [["the nearest 20", ...cells(postgres), ...cells(await onPGlite(measureNearest))]]);
}

async function onPostgres(server: string): Promise<Cost> {
  const { url, drop } = await createDatabase(server);
  const store = await openPostgres(url, { answerTimeoutMs: 0 });
  try {
    return await measureNearest(store);
  } finally {
    await store.close();
    await drop();
  }
}

async function measureNearest(store: Store): Promise<Cost> {
  await migrate(store);
  await addTeamsWithLibraries(store);
  for (let from = 0; from < ATOMS; from += CHUNK) await fill(store, from);
  await maintainTables(store);
  const vector = Array.from({ length: DIMENSIONS }, (_, at) => Math.sin((at + 1) * 8));
  const space = { digest: "", publicId: "", model: "", askedDimensions: null, servedBy: "", dimensions: DIMENSIONS };
  const question: QuestionVector = { space: { ...space, libraries: [{ id: LIBRARY, space: 1 }] }, vector };
  return measure(store, (db) => nearestAtoms(db, SCOPE, question, 20));
}

async function fill({ db }: Store, from: number): Promise<void> {
  await sql`
    with made as (
      insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select ${LIBRARY}, ${REACH.teamId}, 'atom ' || n, '{}', 5, now(), now()
      from generate_series(${from + 1}::integer, ${from + CHUNK}::integer) n returning id
    )
    insert into atom_embeddings (atom_id, library_id, space, revision, signature, embedding)
    select id, ${LIBRARY}, 1, 1, binary_quantize(v), v from (
      select id, (
        select array_agg(${NUMBER} order by at) from generate_series(1, ${DIMENSIONS}::integer) at
      )::real[]::vector as v
      from (select id, row_number() over (order by id) % ${CENTRES}::integer as centre from made) numbered
    ) embedded`.execute(db);
}
