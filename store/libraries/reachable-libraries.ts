import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import type { Reach } from "../../domain/access/reach.ts";
import { newId } from "../database/ids.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { ListPage } from "./page.ts";

/** Library as a caller that may reach it sees it. */
export type ReachableLibrary = {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /** Incarnation: another after the library was deleted and made again, even if it took up the old atoms. */
  readonly incarnation: string;
};

/**
 * Returns the SQL condition that a library `l` is in the reach: it is active, it belongs to the team, and the caller
 * may reach it. Its text differs for a reach with ids and without, so that a kept plan finds the libraries by their
 * ids.
 */
export function isReachable({ subject, ...reach }: Reach): RawBuilder<unknown> {
  return subject === undefined ? isShared(reach) : sql`l.id = any(${idsWithParts({ ...reach, subject }, null)})`;
}

/**
 * Returns the condition of {@link isReachable} for the one library that is asked for, with the subject's part of it;
 * null for all libraries.
 */
export function isAskedFor({ subject, ...reach }: Reach, libraryId: string | null): RawBuilder<unknown> {
  if (subject !== undefined) return sql`l.id = any(${idsWithParts({ ...reach, subject }, libraryId)})`;
  return sql`${isShared(reach)} ${libraryId === null ? sql`` : sql`and l.id = ${libraryId}`}`;
}

function isShared({ teamId, libraryIds }: Reach): RawBuilder<unknown> {
  const isOneOf = libraryIds === null ? sql`` : sql`and l.id = any(${libraryIds}::text[])`;
  return sql`l.team_id = ${teamId} and l.state = 'active' ${isOneOf}`;
}

/**
 * Returns SQL for the ids of a reach's libraries and its subject's parts of them, as an array that a statement reads
 * once. A part exists as long as its library.
 */
function idsWithParts({ subject, isOwnOnly, ...reach }: Reach, libraryId: string | null): RawBuilder<unknown> {
  return sql`array(
    select own.id from libraries l cross join lateral (
      ${isOwnOnly ? sql`` : sql`select l.id union all`} select o.id from libraries o
      where o.parent_id = l.id and o.subject = ${subject}::text and o.state = ${OF_SUBJECT}
    ) own where ${isShared(reach)} ${libraryId === null ? sql`` : sql`and l.id = ${libraryId}`})`;
}

/** True if an id is that of a part of a library. The index of words has its atoms under the part, not the team. */
export function isPart(libraryId: string): boolean {
  return libraryId.startsWith("part_");
}

/** State of a part of a library. A part holds the atoms of one subject. */
export const OF_SUBJECT = sql.lit("of_subject");

/** Returns the SQL condition that atoms of a library or part `l` may be changed: by a subject, only its own part. */
export function isWritable({ subject }: Reach): RawBuilder<unknown> {
  return subject === undefined ? sql`l.parent_id is null` : sql`l.subject = ${subject}::text`;
}

/** Returns SQL that is true if all subjects share what a row `l` holds; null for a call without a subject. */
export function isWhole({ subject }: Reach): RawBuilder<unknown> {
  return subject === undefined ? sql`null::boolean` : sql`l.parent_id is null`;
}

/** Id of the library of a row `l` as callers know it: for a part, the id of its library. */
export const WHOLE_LIBRARY_ID = sql`coalesce(l.parent_id, l.id)`;

/** Returns SQL for the library of a row `l` as callers know it: for a part, the library that it belongs to. */
export function shownLibrary({ subject }: Reach): RawBuilder<unknown> {
  if (subject === undefined) return sql`l.id as library_id, l.namespace, l.name`;
  const ofWhole = (column: string) =>
    sql`coalesce((select ${sql.ref(`whole.${column}`)} from libraries whole where whole.id = l.parent_id), ${sql.ref(`l.${column}`)})`;
  return sql`${WHOLE_LIBRARY_ID} as library_id, ${ofWhole("namespace")} as namespace, ${ofWhole("name")} as name`;
}

/**
 * Finds the library of a name in the reach. A library that is not allowed and a library that does not exist give the
 * same empty answer of the same statement (spec §2.5).
 *
 * @param namespace empty for a caller that no namespace declares: then no other library of the reach may have the
 *   name
 */
export async function findLibraryByName(
  db: QueryExecutorProvider,
  reach: Reach,
  namespace: string,
  name: string,
): Promise<ReachableLibrary | undefined> {
  const found = await select(
    db,
    reach,
    sql`l.name = ${name} and (${namespace}::text = '' or l.namespace = ${namespace})`,
  );
  return found.length === 1 ? found[0] : undefined;
}

/**
 * Returns the id of the row under which atoms of this reach are stored: the library itself, or the subject's part of
 * it, which is made if it does not exist.
 *
 * @returns undefined if the subject has no part of it and the reach does not contain the library
 */
export async function openLibrary(
  tx: QueryExecutorProvider,
  { subject, ...reach }: Reach,
  libraryId: string,
): Promise<string | undefined> {
  if (subject === undefined) return libraryId;
  const part = await holdPart(tx, libraryId, subject);
  if (part !== undefined) return part;
  const id = newId("part");
  await sql`insert into libraries (id, cluster, namespace, name, team_id, owner_uid, display_name, description,
      deletion_policy, state, parent_id, subject)
    select ${id}, '', '', ${id}, l.team_id, null, '', '', 'Delete', ${OF_SUBJECT}, l.id, ${subject} from libraries l
    where l.id = ${libraryId} and ${isShared(reach)}
    on conflict do nothing`.execute(tx);
  return holdPart(tx, libraryId, subject);
}

/**
 * Locks a subject's part. An erasure of the subject waits until the transaction ends, and then finds all that it has
 * saved. After an erasure there is no part.
 */
async function holdPart(tx: QueryExecutorProvider, libraryId: string, subject: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`${preparedStatement} ${partOf(libraryId, subject)} for share`.execute(tx);
  return rows[0]?.id;
}

/** Finds the id of a subject's part of a library; undefined if the subject has saved nothing there. */
export async function findPart(
  db: QueryExecutorProvider,
  libraryId: string,
  subject: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`${preparedStatement} ${partOf(libraryId, subject)}`.execute(db);
  return rows[0]?.id;
}

function partOf(libraryId: string, subject: string): RawBuilder<unknown> {
  return sql`select o.id from libraries o
    where o.parent_id = ${libraryId} and o.subject = ${subject}::text and o.state = ${OF_SUBJECT}`;
}

/** Finds the library with this id, if the reach contains it and it is active. */
export async function findLibraryById(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
): Promise<ReachableLibrary | undefined> {
  const [found] = await select(db, reach, sql`l.id = ${id}`);
  return found;
}

/** Lists one page of the active libraries of a reach, in the order of their ids, after `after`. */
export async function listLibraries(
  db: QueryExecutorProvider,
  reach: Reach,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<ListPage<ReachableLibrary>> {
  const found = await select(db, reach, sql`(${after}::text is null or l.id > ${after})`, limit + 1);
  return { items: found.slice(0, limit), isMore: found.length > limit };
}

async function select(
  db: QueryExecutorProvider,
  reach: Reach,
  which: RawBuilder<unknown>,
  limit = 2,
): Promise<ReachableLibrary[]> {
  const { rows } = await sql<ReachableLibrary>`${preparedStatement}
    select l.id, l.namespace, l.name, l.display_name as "displayName", l.description,
      coalesce(l.owner_uid, '') as incarnation
    from libraries l
    where ${which} and ${isShared(reach)}
    order by l.id
    limit ${limit}`.execute(db);
  return rows;
}
