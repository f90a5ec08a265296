import { sql } from "kysely";
import type { Db, Tx } from "../change.ts";
import { sqlState } from "../errors.ts";

/** SQLSTATE for a missing right. */
const NOT_ALLOWED = "42501";
/** SQLSTATEs for an extension that is not on the database's machine, or cannot be loaded. */
const NOT_THERE = new Set(["0A000", "58P01", "22023"]);

/**
 * Makes the storage of semantic search if it is not there: the extension `vector` (pgvector 0.7 or later) and its
 * tables. Calling it again is no error.
 *
 * @returns undefined if all is there; else the line that says what an administrator has to do
 */
export async function makeVectorTables(db: Db): Promise<string | undefined> {
  const { rows } = await sql`
    select where to_regclass('library_embeddings') is not null and to_regclass('atom_passages') is null`.execute(db);
  if (rows.length === 0) return undefined;
  const why = await makeExtension(db);
  if (why !== undefined) return `semantic search stays off: ${why}, and run keyplane migrate again`;
  await db.transaction().execute(async (tx) => {
    await makeTable(tx);
    await makePassages(tx);
  });
  return undefined;
}

/** True if vectors can be stored and searched. */
export async function hasVectorTable(db: Db): Promise<boolean> {
  const { rows } = await sql<{ present: boolean }>`
    select to_regclass('atom_passages') is not null as present`.execute(db);
  return rows[0]?.present === true;
}

async function makeExtension(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ installed: boolean; available: boolean; database: string }>`
    select exists (select from pg_extension where extname = 'vector') as installed,
      exists (select from pg_available_extensions where name = 'vector') as available,
      quote_ident(current_database()) as database`.execute(db);
  const [{ installed, available, database } = { installed: false, available: false, database: "" }] = rows;
  const create = `have an administrator run CREATE EXTENSION vector; in the database ${database}`;
  if (!installed) {
    if (!available)
      return `the database server has no extension vector: install pgvector 0.7 or later there, ${create}`;
    try {
      await sql`create extension if not exists vector`.execute(db);
    } catch (error) {
      const state = sqlState(error) ?? "";
      if (state === NOT_ALLOWED) return `this user may not make the extension vector: ${create}`;
      if (NOT_THERE.has(state))
        return `the extension vector could not be made: install pgvector 0.7 or later, ${create}`;
      throw error;
    }
  }
  const { rows: found } = await sql<{ usable: boolean }>`
    select to_regtype('vector') is not null and to_regprocedure('binary_quantize(vector)') is not null as usable`.execute(
    db,
  );
  if (found[0]?.usable === true) return undefined;
  return `the extension vector is older than 0.7, or in a schema that is not on the search path: have an administrator run ALTER EXTENSION vector UPDATE; in the database ${database}`;
}

/**
 * Makes the table of vectors. A long vector is stored out of line, so that a search reads narrow rows with its
 * signature (docs/decisions/semantic-search.md). Atom ids sort by time: a library's newest atoms are the last of its
 * index. The index of atoms has no order: with an order, a search for the newest atoms would read other teams' rows by
 * it.
 */
async function makeTable(tx: Tx): Promise<void> {
  await sql`create table atom_embeddings (
    atom_id uuid not null references atoms (id) on delete cascade,
    library_id text not null,
    space integer not null,
    revision integer not null,
    signature bit varying not null,
    embedding vector not null,
    primary key (library_id, atom_id)
  )`.execute(tx);
  await sql`create index atom_embeddings_of_atom on atom_embeddings using hash (atom_id)`.execute(tx);
}

/**
 * Makes the table of passages. `atom_embeddings` has the vector of an atom's first passage; for an atom that is longer
 * than one passage, this table has those of the others. A trigger deletes passages of an earlier revision or model when
 * the atom is embedded anew.
 */
async function makePassages(tx: Tx): Promise<void> {
  await sql`create table atom_passages (
    library_id text not null,
    atom_id uuid not null,
    passage integer not null,
    space integer not null,
    revision integer not null,
    signature bit varying not null,
    embedding vector not null,
    primary key (library_id, atom_id, passage),
    foreign key (library_id, atom_id) references atom_embeddings on delete cascade
  )`.execute(tx);
  await sql`create function keep_passages() returns trigger language plpgsql as $$
begin
  delete from atom_passages where library_id = new.library_id and atom_id = new.atom_id
    and (space, revision) <> (new.space, new.revision);
  return null;
end $$`.execute(tx);
  await sql`create constraint trigger atom_embeddings_keep_passages after insert or update on atom_embeddings
    deferrable initially deferred for each row execute function keep_passages()`.execute(tx);
}
