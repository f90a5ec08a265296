import { sql } from "kysely";
import type { Db } from "../change.ts";

/** Atoms of one statement: all of 100,000 at once took PGlite a second, in which nobody else is answered. */
export const DELETED_SLICE = 200;

/**
 * Deletes some of the atoms of deleted libraries, and the libraries that have none left. To be called again while it
 * says so; it goes on where another process ended, and several at once take different atoms.
 *
 * @returns whether there may be more
 */
export async function deleteSomeAtoms(db: Db, slice: number = DELETED_SLICE): Promise<boolean> {
  const library = await db
    .selectFrom("libraries")
    .select("id")
    .where("state", "=", "deleted")
    .limit(1)
    .executeTakeFirst();
  if (library === undefined) return false;
  const { rows } = await sql<{ id: string }>`
    delete from atoms where id = any(array(
      select id from atoms where library_id = ${library.id} limit ${slice} for update skip locked
    )) returning id`.execute(db);
  if (rows.length > 0) return true;
  const { numDeletedRows } = await db
    .deleteFrom("libraries")
    .where("id", "=", library.id)
    .where("state", "=", "deleted")
    .where(sql<boolean>`not exists (select from atoms where library_id = libraries.id)`)
    .executeTakeFirst();
  // None: another process holds the last of its atoms, and goes on itself.
  return numDeletedRows > 0n;
}
