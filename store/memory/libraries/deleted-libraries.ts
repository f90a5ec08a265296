import { sql } from "kysely";
import type { Db, Tx } from "../../database/change.ts";
import { withOrderedPlans } from "../../database/ordered-plans.ts";
import type { Store } from "../../database/store.ts";
import type { AtomPosition } from "../rows/atom.ts";
import { OF_SUBJECT } from "../rows/reachable-libraries.ts";

/** Atoms of one statement: all of 100,000 at once took PGlite a second, in which no other caller is answered. */
const SLICE = { pglite: 200, postgres: 1_000 } as const;
/** Beyond so many it is only said that there are more: a count reads every row. */
const MAX_COUNTED = 10_000;

type LibraryDeletion = {
  /**
   * Deletes some of the atoms of deleted libraries, or of what they hold besides, or a library that has nothing left.
   *
   * @returns whether there may be more
   */
  next(): Promise<boolean>;
};

/**
 * The deletion of what deleted libraries held, a slice at a time. It goes on where another process ended, and several
 * at once take different atoms. Each slice begins where the one before ended: the entries of an index that lead to
 * deleted rows are read again as long as another transaction, such as a backup's, may still see those.
 *
 * @param libraryId the one library to delete; any where it is left out
 */
export function libraryDeletion(
  { db, engine }: Pick<Store, "db" | "engine">,
  { libraryId, slice = SLICE[engine] }: { readonly libraryId?: string; readonly slice?: number } = {},
): LibraryDeletion {
  let at: { readonly id: string; readonly after: AtomPosition } | undefined;
  return {
    async next() {
      const id = at?.id ?? (await findDeleted(db, libraryId));
      if (id === undefined) return false;
      const last = await withOrderedPlans(db, (tx) => deleteSlice(tx, id, at?.after ?? null, slice), "read write");
      if (last !== null) {
        at = { id, after: last };
        return true;
      }
      const isThrough = at === undefined;
      at = undefined;
      // Once more from the beginning, for what another process held and gave back.
      if (!isThrough) return true;
      for (const table of BESIDE_ATOMS) if (await deleteSome(db, table, id, slice)) return true;
      if (await endParts(db, id, slice)) return true;
      return removeEmpty(db, id);
    },
  };
}

async function findDeleted(db: Db, libraryId: string | undefined): Promise<string | undefined> {
  // Parts before what they are parts of, which stays until they are gone.
  const deleted = db
    .selectFrom("libraries")
    .select("id")
    .where("state", "=", "deleted")
    .orderBy(sql`parent_id is null`)
    .orderBy("id");
  const one =
    libraryId === undefined
      ? deleted
      : deleted.where(({ or, eb }) => or([eb("id", "=", libraryId), eb("parent_id", "=", libraryId)]));
  return (await one.limit(1).executeTakeFirst())?.id;
}

/** What subjects have in a deleted library is deleted as it is. Returns whether there was any. */
async function endParts(db: Db, libraryId: string, slice: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`update libraries set state = 'deleted', subject = null
    where id = any(array(select id from libraries where parent_id = ${libraryId} and state = ${OF_SUBJECT}
      limit ${slice} for update skip locked))`.execute(db);
  return numAffectedRows > 0n;
}

/** The last that was deleted; null for none. */
async function deleteSlice(
  tx: Tx,
  libraryId: string,
  after: AtomPosition | null,
  slice: number,
): Promise<AtomPosition | null> {
  const { rows } = await sql<{ at: number; id: string }>`
    with doomed as materialized (
      select a.id, a.created_at from atoms a where a.library_id = ${libraryId}
        ${after === null ? sql`` : sql`and (a.created_at, a.id) < (${new Date(after.at)}::timestamptz, ${after.id}::uuid)`}
      order by a.created_at desc, a.id desc limit ${slice} for update skip locked
    ), gone as (
      delete from atoms where id = any(array(select id from doomed))
    ), counted as (
      update libraries set deleted_atoms = deleted_atoms + (select count(*) from doomed)
      where id = ${libraryId} and exists (select from doomed)
    )
    select extract(epoch from created_at)::float8 * 1000 as at, id::text from doomed
    order by created_at, doomed.id limit 1`.execute(tx);
  const [last] = rows;
  return last === undefined ? null : { at: Math.round(last.at), id: last.id };
}

/** What a library holds beside its atoms: those that were forgotten, and the records of its repeatable saves. */
const BESIDE_ATOMS = ["forgotten_atoms", "repeatable_saves"] as const;

/** Deletes some of a library's rows. Returns whether there were any. */
async function deleteSome(db: Db, name: string, libraryId: string, slice: number): Promise<boolean> {
  const table = sql.table(name);
  const { numAffectedRows = 0n } = await sql`delete from ${table} where ctid = any(array(
    select ctid from ${table} where library_id = ${libraryId} limit ${slice} for update skip locked))`.execute(db);
  return numAffectedRows > 0n;
}

/** False where another process holds the last of its atoms, and goes on itself. */
async function removeEmpty(db: Db, libraryId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("libraries")
    .where("id", "=", libraryId)
    .where("state", "=", "deleted")
    .where(sql<boolean>`not exists (select from atoms where library_id = libraries.id)`)
    .where(sql<boolean>`not exists (select from libraries part where part.parent_id = libraries.id)`)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** How far a deletion is. */
export type DeletionProgress = {
  readonly libraryId: string;
  readonly deleted: number;
  readonly left: number;
  /** There are more than `left`. */
  readonly isMore: boolean;
};

/** The deletion that the end of a declaration began; undefined where there is none, or all is done. */
export async function deletionProgress(
  db: Db,
  cluster: string,
  ownerUid: string,
): Promise<DeletionProgress | undefined> {
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<{ id: string; deleted: number; counted: number }>`
      select l.id, l.deleted_atoms as deleted, (select count(*)::integer from (
          select from atoms a where a.library_id = l.id order by a.created_at desc, a.id desc limit ${MAX_COUNTED + 1}
        ) counted) as counted
      from libraries l where l.cluster = ${cluster} and l.owner_uid = ${ownerUid} and l.state = 'deleted'`.execute(tx),
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { id, deleted, counted } = row;
  return { libraryId: id, deleted, left: Math.min(counted, MAX_COUNTED), isMore: counted > MAX_COUNTED };
}
