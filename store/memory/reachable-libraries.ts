import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { Reach } from "./atom.ts";
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
export function isReachable({ teamId, libraryIds }: Reach): RawBuilder<unknown> {
  const isOneOf = libraryIds === null ? sql`` : sql`and l.id = any(${libraryIds}::text[])`;
  return sql`l.team_id = ${teamId} and l.state = 'active' ${isOneOf}`;
}

/** The same, of the one library that is asked for; null for all of them. */
export function isAskedFor(reach: Reach, libraryId: string | null): RawBuilder<unknown> {
  return sql`${isReachable(reach)} ${libraryId === null ? sql`` : sql`and l.id = ${libraryId}`}`;
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
    where ${which} and ${isReachable(reach)}
    order by l.id
    limit ${limit}`.execute(db);
  return rows;
}
