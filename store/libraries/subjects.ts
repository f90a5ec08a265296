import { type QueryExecutorProvider, sql } from "kysely";
import { type Author, appendAudit } from "../audit/audit.ts";
import type { Db, Tx } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import { listObjects, type ObjectFilter, type StoredOf } from "../objects/objects.ts";
import { OF_SUBJECT } from "./reachable-libraries.ts";

/** Lists a page of the libraries whose declaration is gone and whose atoms are kept, in the order of their ids. */
export function listRetainedLibraries(db: Db, filter: Omit<ObjectFilter, "states">): Promise<StoredOf["library"][]> {
  return withOrderedPlans(db, (tx) => listObjects(tx, "library", { ...filter, states: ["retained"] }));
}

/** Subject that has saved something in a library; `since` in milliseconds since the epoch. */
type LibrarySubject = { readonly id: string; readonly subject: string; readonly since: number };

/**
 * Lists subjects of a library, in the order of their names.
 *
 * @param afterId part id of the last subject on the previous page, since a name does not belong in the address of a
 *   page
 * @returns undefined if that subject was erased meanwhile
 */
export async function listSubjects(
  db: Db,
  libraryId: string,
  { afterId, limit }: { readonly afterId?: string | undefined; readonly limit: number },
): Promise<LibrarySubject[] | undefined> {
  const after = afterId === undefined ? "" : await nameOf(db, libraryId, afterId);
  if (after === undefined) return undefined;
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<LibrarySubject>`select id, subject, extract(epoch from created_at)::float8 * 1000 as since from libraries
    where parent_id = ${libraryId} and state = ${OF_SUBJECT} and subject > ${after}
    order by subject limit ${limit}`.execute(tx),
  );
  return rows;
}

async function nameOf(db: QueryExecutorProvider, libraryId: string, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ subject: string }>`select subject from libraries
    where id = ${id} and parent_id = ${libraryId} and state = ${OF_SUBJECT}`.execute(db);
  return rows[0]?.subject;
}

type Erasure = {
  readonly library: { readonly id: string; readonly namespace: string; readonly name: string; readonly teamId: string };
  readonly subject: string;
  /** Author, for the audit log. */
  readonly by: Author;
};

/**
 * Erases all that a subject has in a library, for ever: with this transaction it is out of reach. Its rows are deleted
 * slice by slice (deleted-libraries.ts). What the subject saves from then on belongs to a new part.
 *
 * @returns false if the subject has nothing there
 */
export async function eraseSubject(tx: Tx, { library, subject, by }: Erasure): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`update libraries set state = 'deleted', subject = null
    where parent_id = ${library.id} and subject = ${subject} and state = ${OF_SUBJECT} returning id`.execute(tx);
  const [part] = rows;
  if (part === undefined) return false;
  // At once: no model is asked about its conversations any more, and no repeated save is answered with erased atoms.
  for (const [table, column] of [
    ["extraction_jobs", "stored_in"],
    ["repeatable_saves", "library_id"],
  ] as const)
    await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${part.id}`.execute(tx);
  const { id, namespace, name, teamId } = library;
  const reference = { id, ...(namespace === "" ? {} : { namespace }), name };
  await appendAudit(tx, [{ at: null, kind: "library.subject_erased", teamId, by, detail: { ...reference, subject } }]);
  return true;
}
