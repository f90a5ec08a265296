import { sql } from "kysely";
import type { Db, Tx } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import type { Store } from "../database/store.ts";
import { OF_SUBJECT } from "./reachable-libraries.ts";

/** Atoms that a statement deletes: 100,000 at once took PGlite a second, in which no other caller is answered. */
const SLICE = { pglite: 200, postgres: 1_000 } as const;
/** Number of libraries whose position is remembered. For further libraries, each slice begins at the beginning. */
const MAX_POSITIONS = 1_000;
/** Number up to which the remaining atoms are counted, because a count reads every row. Above it, `isMore` is true. */
const MAX_COUNTED = 10_000;

/** Position at which a slice of a library's atoms ended: the atom's creation time in milliseconds, and its id. */
type Position = { readonly at: number; readonly id: string };

type LibraryDeletion = {
  /**
   * Deletes some of the atoms of deleted libraries, some of their other rows, or a library that has nothing left.
   *
   * @returns true if there may be more
   */
  next(): Promise<boolean>;
};

/**
 * Deletes what deleted libraries held, one slice of each in turn, so that a large library does not delay the others
 * (threats b282). It continues where another process ended, and several processes take different atoms. Each slice
 * begins where the library's last slice ended: as long as another transaction, such as a backup's, may still see
 * deleted rows, index entries that lead to them would be read again.
 *
 * @param libraryId the one library to delete; any if left out
 */
export function libraryDeletion(
  { db, engine }: Pick<Store, "db" | "engine">,
  { libraryId, slice = SLICE[engine] }: { readonly libraryId?: string; readonly slice?: number } = {},
): LibraryDeletion {
  const positions = new Map<string, Position>();
  let last: Deleted | undefined;
  let isMoving = false;

  async function findNext(): Promise<Deleted | undefined> {
    const following = last && (await findDeleted(db, libraryId, last));
    if (following !== undefined) return following;
    // All have had their slice: once more, unless none of them had anything to delete.
    if (last !== undefined && !isMoving) return undefined;
    isMoving = false;
    return findDeleted(db, libraryId);
  }

  async function deleteNext(id: string): Promise<boolean> {
    const after = positions.get(id) ?? null;
    const reached = await withOrderedPlans(db, (tx) => deleteSlice(tx, id, after, slice), "read write");
    positions.delete(id);
    if (reached !== null) {
      if (positions.size < MAX_POSITIONS) positions.set(id, reached);
      return true;
    }
    // Once more from the beginning, for rows that another process had locked.
    if (after !== null) return true;
    for (const table of BESIDE_ATOMS) if (await deleteSome(db, table, id, slice)) return true;
    if (await endParts(db, id, slice)) return true;
    return removeEmpty(db, id);
  }

  return {
    async next() {
      last = await findNext();
      if (last === undefined) return false;
      if (await deleteNext(last.id)) isMoving = true;
      return true;
    },
  };
}

type Deleted = { readonly id: string; readonly isWhole: boolean };

/** @param after library after which to look; from the first on if left out */
async function findDeleted(db: Db, libraryId: string | undefined, after?: Deleted): Promise<Deleted | undefined> {
  const isWhole = sql<boolean>`parent_id is null`;
  // Parts before what they are parts of, which stays until they are gone.
  const deleted = db
    .selectFrom("libraries")
    .select(["id", isWhole.as("isWhole")])
    .where("state", "=", "deleted")
    .orderBy(isWhole)
    .orderBy("id")
    .limit(1);
  const wanted =
    libraryId === undefined
      ? deleted
      : deleted.where(({ or, eb }) => or([eb("id", "=", libraryId), eb("parent_id", "=", libraryId)]));
  const following =
    after === undefined
      ? wanted
      : wanted.where(sql<boolean>`(parent_id is null, id) > (${after.isWhole}::boolean, ${after.id})`);
  return following.executeTakeFirst();
}

/** Marks a deleted library's parts, which hold atoms of subjects, as deleted too. Returns true if there were any. */
async function endParts(db: Db, libraryId: string, slice: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`update libraries set state = 'deleted', subject = null
    where id = any(array(select id from libraries where parent_id = ${libraryId} and state = ${OF_SUBJECT}
      limit ${slice} for update skip locked))`.execute(db);
  return numAffectedRows > 0n;
}

/** Deletes a slice of atoms. Returns the position of the last that was deleted; null for none. */
async function deleteSlice(tx: Tx, libraryId: string, after: Position | null, slice: number): Promise<Position | null> {
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

/** Tables with other rows of a library: atoms that were forgotten, and the records of its repeatable saves. */
const BESIDE_ATOMS = ["forgotten_atoms", "repeatable_saves"] as const;

/** Deletes some of a library's rows. Returns true if there were any. */
async function deleteSome(db: Db, name: string, libraryId: string, slice: number): Promise<boolean> {
  const table = sql.table(name);
  const { numAffectedRows = 0n } = await sql`delete from ${table} where ctid = any(array(
    select ctid from ${table} where library_id = ${libraryId} limit ${slice} for update skip locked))`.execute(db);
  return numAffectedRows > 0n;
}

/** Deletes an empty library. Returns false if another process holds the last of its atoms, and so continues itself. */
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

/** Progress of a deletion. */
export type DeletionProgress = {
  readonly libraryId: string;
  readonly deleted: number;
  readonly left: number;
  /** True if there are more than `left`. */
  readonly isMore: boolean;
};

/** Reads the progress of the deletion that a declaration's end began; undefined if there is none, or all is done. */
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
