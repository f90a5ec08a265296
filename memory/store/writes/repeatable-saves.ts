import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "../../../store/database/change.ts";
import { toDigest } from "../../../store/database/digest.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";

/** Identity by which a save is recognized. Digests are SHA-256, 32 latin1 characters. */
export type RepeatableSave = {
  /** Name of the key that saves, and of no other: callers do not meet. */
  readonly caller: string;
  /** Digest of the idempotency key. */
  readonly key: string;
  /** Digest of what the request asks for. */
  readonly request: string;
};

/** Atoms that a save has made, and the rest of its answer. */
export type MadeAtoms = {
  /** Ids in the order of the request; null for an atom that was left out. */
  readonly atomIds: readonly (string | null)[];
  /** Members of the answer beside the atoms. */
  readonly beside: Readonly<Record<string, unknown>>;
};

/** Save that was made before. */
export type FormerSave = MadeAtoms & { readonly libraryId: string; readonly isSameRequest: boolean };

/** Time for which a save is recognized. */
export const KEPT = sql`interval '24 hours'`;
/** Number of records that a caller may leave within that time. */
export const MAX_SAVES = 10_000;

/**
 * Id of a record's library, as callers know it also where the atoms are in a subject's part; null for a deleted one,
 * whose name may be another's by now.
 */
const LIBRARY_ID = sql<string | null>`(select whole.id from libraries stored
  join libraries whole on whole.id = coalesce(stored.parent_id, stored.id) and whole.state <> 'deleted'
  where stored.id = repeatable_saves.library_id)`;

/** Finds the save that was made by this key; undefined if there is none, or it is no longer recognized. */
export function findSave(db: Db, save: RepeatableSave): Promise<FormerSave | undefined> {
  return readSave(db, save, sql<boolean>`made_at >= clock_timestamp() - ${KEPT}`);
}

async function readSave(
  db: Db,
  { caller, key, request }: RepeatableSave,
  isKnown: RawBuilder<boolean>,
): Promise<FormerSave | undefined> {
  const made = await db
    .selectFrom("repeatable_saves")
    // As text: both drivers read an array of those alike.
    .select(["request", "beside", sql<(string | null)[]>`atom_ids::text[]`.as("atom_ids")])
    .select(LIBRARY_ID.as("library_id"))
    .where("caller", "=", caller)
    .where("key", "=", toDigest(key))
    .where(isKnown)
    .executeTakeFirst();
  if (made === undefined || made.library_id === null) return undefined;
  const { library_id: libraryId, atom_ids: atomIds, beside } = made;
  return { libraryId, atomIds, beside, isSameRequest: toDigest(request).equals(made.request) };
}

/** Capacity of a caller for records. */
export type RecordCount = {
  /** Number of records that it may still leave; saves under way are not counted. */
  readonly free: number;
  /** Milliseconds until there is capacity for more: 0 if there is. */
  readonly waitMs: number;
};

/** Counts the records of a caller: thousands, in the end, so that {@link RecordCapacity} asks seldom. */
export async function countRecords(db: Db, caller: string, most: number = MAX_SAVES): Promise<RecordCount> {
  const { rows } = await sql<{ known: number; ms: number | null }>`
    select count(*) filter (where made_at >= clock_timestamp() - ${KEPT})::int as known,
      extract(epoch from min(made_at) + ${KEPT} - clock_timestamp())::float8 * 1000 as ms
    from (select made_at from repeatable_saves where caller = ${caller} order by made_at desc limit ${most}) newest`.execute(
    db,
  );
  const free = most - (rows[0]?.known ?? 0);
  return { free, waitMs: free > 0 ? 0 : Math.max(1, rows[0]?.ms ?? 0) };
}

/**
 * Begins a save, or finds that it was made before. Of two with the same key at once the second waits for the first.
 *
 * @returns undefined if it is to be made now: {@link endSave} follows in the same transaction; `absent` if the library
 * is no longer there
 *
 * @param libraryId the row that the atoms are stored under, as `openLibrary` gives it
 */
export async function beginSave(
  tx: Tx,
  save: RepeatableSave,
  libraryId: string,
): Promise<FormerSave | "absent" | undefined> {
  const { caller, key, request } = save;
  const begun = await sql`${preparedStatement} insert into repeatable_saves (caller, key, request, library_id)
    select ${caller}, ${toDigest(key)}::bytea, ${toDigest(request)}::bytea, id from libraries where id = ${libraryId}
    on conflict (caller, key) do update set request = excluded.request, library_id = excluded.library_id,
      made_at = excluded.made_at
    where repeatable_saves.made_at < clock_timestamp() - ${KEPT} or ${LIBRARY_ID} is null returning 1`.execute(tx);
  if (begun.rows.length > 0) return undefined;
  // The insert has locked the record, and its time was not over then: it counts, whatever time it is by now.
  return (await readSave(tx, save, sql<boolean>`true`)) ?? "absent";
}

/** Records the atoms that a save has made, and the rest of its answer. */
export async function endSave(tx: Tx, { caller, key }: RepeatableSave, { atomIds, beside }: MadeAtoms): Promise<void> {
  await sql`${preparedStatement} update repeatable_saves set atom_ids = ${[...atomIds]}::text[]::uuid[], beside = ${JSON.stringify(beside)}::jsonb
    where caller = ${caller} and key = ${toDigest(key)}`.execute(tx);
}
