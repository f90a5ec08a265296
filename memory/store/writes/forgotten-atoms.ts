import { type QueryExecutorProvider, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { WHOLE_LIBRARY_ID } from "../../../store/libraries/reachable-libraries.ts";
import type { Atom } from "../rows/atom.ts";
import { type AtomRow, atomColumns, findAtoms, isAtomId, toAtom } from "../rows/atoms.ts";
import { isAtRevision, type UnchangedAtom, whyUnchanged } from "./atom-writes.ts";

/** Days for which a forgotten atom can be restored. */
export const DAYS_KEPT = 30;
/**
 * Number of forgotten atoms that are kept of a library: beyond it the first forgotten is deleted
 * (docs/decisions/forgetting.md).
 */
export const MAX_KEPT = 1_000;
/** Number of forgotten atoms that a call deletes at most, if several calls at once have left too many. */
const MAX_EVICTED = 10;

/** Result of forgetting: the library's id as callers know it, and `keptUntil` in milliseconds since the epoch. */
export type Forgetting =
  | { readonly kind: "forgotten"; readonly libraryId: string; readonly keptUntil: number }
  | UnchangedAtom;

/** Stored columns of an atom, without those that the database generates. */
const COLUMNS = sql`id, library_id, team_id, content, tags, source, importance, created_at, updated_at, revision, metadata,
  links, expires_at, valid_from, valid_to, sketch`;

/**
 * Forgets an atom: to every caller it is as if it were deleted, and {@link restoreAtom} brings it back. It is kept no
 * longer than until its expiry.
 *
 * @param expected the revision that the caller has seen, or null to forget whichever is present
 * @param mostKept number of forgotten atoms that are kept of its library
 */
export async function forgetAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  expected: number | null,
  mostKept: number = MAX_KEPT,
): Promise<Forgetting> {
  if (!isAtomId(id)) return { kind: "absent" };
  const { rows } = await sql<{ library_id: string; whole_id: string; kept_ms: number }>`
    with gone as (
      delete from atoms a using libraries l where ${isAtRevision(reach, id, expected)} returning a.*, ${WHOLE_LIBRARY_ID} as whole_id
    ), kept as (
      insert into forgotten_atoms (${COLUMNS}, kept_until)
      select ${COLUMNS}, least(now() + ${DAYS_KEPT} * interval '1 day', expires_at) from gone
      returning id, library_id, extract(epoch from kept_until)::float8 * 1000 as kept_ms
    )
    select kept.library_id, kept.kept_ms, gone.whole_id from kept join gone using (id)`.execute(db);
  const [kept] = rows;
  if (kept === undefined) return whyUnchanged(db, reach, id);
  // The rows are chosen before they are locked: `for update` beside `offset` would lock the rows that stay, too.
  await sql`delete from forgotten_atoms where id = any(array(
    select id from forgotten_atoms where id = any(array(
      select id from forgotten_atoms where library_id = ${kept.library_id}
      order by forgotten_at desc, id desc offset ${mostKept} limit ${MAX_EVICTED})) for update skip locked))`.execute(
    db,
  );
  return { kind: "forgotten", libraryId: kept.whole_id, keptUntil: Math.round(kept.kept_ms) };
}

/**
 * Restores an atom that was forgotten, as it was: with its id, its times, its links and its revisions. An atom that is
 * there stays as it is.
 *
 * @returns undefined if the reach has no such atom, or it is kept no longer
 */
export async function restoreAtom(db: QueryExecutorProvider, reach: Reach, id: string): Promise<Atom | undefined> {
  if (!isAtomId(id)) return undefined;
  const { rows } = await sql<AtomRow>`
    with kept as (
      delete from forgotten_atoms a using libraries l
      where ${isAtRevision(reach, id, null)} and a.kept_until > now() returning a.*
    ), a as (
      insert into atoms (${COLUMNS}) select ${COLUMNS} from kept returning *
    )
    select ${atomColumns(reach)} from a join libraries l on l.id = a.library_id`.execute(db);
  if (rows[0]) return toAtom(rows[0]);
  const [present] = await findAtoms(db, reach, [id]);
  return present;
}
