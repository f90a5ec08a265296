import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import type { Reach } from "../../domain/access/reach.ts";
import { newId } from "../database/ids.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { ListPage } from "./page.ts";

/** A library as a caller that may reach it sees it. */
export type ReachableLibrary = {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /** Another one once the library was deleted and made again, even where it took its atoms up again. */
  readonly incarnation: string;
};

/**
 * The condition of a library `l` of a reach: it is active, and one of the team's that the caller may reach. Its text says
 * whether it is by their ids, so that a plan that is kept finds them by these.
 */
export function isReachable({ subject, ...reach }: Reach): RawBuilder<unknown> {
  return subject === undefined ? isShared(reach) : sql`l.id = any(${idsWithParts({ ...reach, subject }, null)})`;
}

/** The same, of the one library that is asked for, with the subject's part of it; null for all of them. */
export function isAskedFor({ subject, ...reach }: Reach, libraryId: string | null): RawBuilder<unknown> {
  if (subject !== undefined) return sql`l.id = any(${idsWithParts({ ...reach, subject }, libraryId)})`;
  return sql`${isShared(reach)} ${libraryId === null ? sql`` : sql`and l.id = ${libraryId}`}`;
}

function isShared({ teamId, libraryIds }: Reach): RawBuilder<unknown> {
  const isOneOf = libraryIds === null ? sql`` : sql`and l.id = any(${libraryIds}::text[])`;
  return sql`l.team_id = ${teamId} and l.state = 'active' ${isOneOf}`;
}

/**
 * The ids of the libraries of a reach and of its subject's parts of them, as an array that is read once for a statement:
 * a part is there as long as its library is.
 */
function idsWithParts({ subject, isOwnOnly, ...reach }: Reach, libraryId: string | null): RawBuilder<unknown> {
  return sql`array(
    select own.id from libraries l cross join lateral (
      ${isOwnOnly ? sql`` : sql`select l.id union all`} select o.id from libraries o
      where o.parent_id = l.id and o.subject = ${subject}::text and o.state = ${OF_SUBJECT}
    ) own where ${isShared(reach)} ${libraryId === null ? sql`` : sql`and l.id = ${libraryId}`})`;
}

/** Whether an id is of a part of a library: the index of words has its atoms under it alone, and not under their team. */
export function isPart(libraryId: string): boolean {
  return libraryId.startsWith("part_");
}

/** The state of a part of a library, which holds the atoms of one subject. */
export const OF_SUBJECT = sql.lit("of_subject");

/** The condition of a library or a part `l` of a reach whose atoms may be changed: of a subject, its own alone. */
export function isWritable({ subject }: Reach): RawBuilder<unknown> {
  return subject === undefined ? sql`l.parent_id is null` : sql`l.subject = ${subject}::text`;
}

/** Whether what a row `l` holds is shared by all subjects; null to a call that is for none. */
export function isWhole({ subject }: Reach): RawBuilder<unknown> {
  return subject === undefined ? sql`null::boolean` : sql`l.parent_id is null`;
}

/** The id of the library of a row `l` as callers know it: of a part, the one that it is a part of. */
export const WHOLE_LIBRARY_ID = sql`coalesce(l.parent_id, l.id)`;

/** The library of a row `l` as callers know it: of a part, the one that it is a part of. */
export function shownLibrary({ subject }: Reach): RawBuilder<unknown> {
  if (subject === undefined) return sql`l.id as library_id, l.namespace, l.name`;
  const ofWhole = (column: string) =>
    sql`coalesce((select ${sql.ref(`whole.${column}`)} from libraries whole where whole.id = l.parent_id), ${sql.ref(`l.${column}`)})`;
  return sql`${WHOLE_LIBRARY_ID} as library_id, ${ofWhole("namespace")} as namespace, ${ofWhole("name")} as name`;
}

/**
 * The library of this name in the reach. One that is not allowed and one that does not exist are the same empty answer
 * of the same statement (spec §2.5).
 *
 * @param namespace empty for a caller that no namespace declares: then the name must be the only one of its kind
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
 * The row that atoms of this reach are stored under: the library itself, or the subject's part of it, which is made where
 * it is not there yet.
 *
 * @returns undefined where the subject has no part of it, and the reach does not have the library
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

/** Until the transaction ends an erasure of the subject waits, and finds all that it has saved; after one there is no part. */
async function holdPart(tx: QueryExecutorProvider, libraryId: string, subject: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`${preparedStatement} ${partOf(libraryId, subject)} for share`.execute(tx);
  return rows[0]?.id;
}

/** The id of a subject's part of a library; undefined where it has saved nothing there. */
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

/** The library of this id, where the reach has it and it is active. */
export async function findLibraryById(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
): Promise<ReachableLibrary | undefined> {
  const [found] = await select(db, reach, sql`l.id = ${id}`);
  return found;
}

/** One page of the active libraries of a reach, in the order of their ids, from behind `after`. */
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
