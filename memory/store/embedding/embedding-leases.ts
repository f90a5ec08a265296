import { sql } from "kysely";
import { passagesOf } from "../../../domain/passages.ts";
import { ANY_TEAM, type TeamBounds } from "../../../runtime/team-bounds.ts";
import type { Db } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { Store } from "../../../store/database/store.ts";
import { UNEXPIRED } from "../rows/expired-atoms.ts";
import { type EmbeddingModel, MODEL_COLUMNS, MODEL_JOINS, type ModelRow, toModel } from "./embedding-model.ts";

/** Lease on a library that this process embeds: no other process does so until the lease ends or its time is over. */
export type EmbeddingLease = {
  readonly libraryId: string;
  readonly teamId: string;
  readonly claim: string;
  readonly isEnded: boolean;
  readonly isWalked: boolean;
  readonly space: number;
  readonly failures: number;
} & EmbeddingModel;

/** Atom to embed. */
export type WaitingAtom = {
  readonly id: string;
  readonly revision: number;
  /** Passages of its text, in reading order. */
  readonly passages: readonly string[];
  readonly tries: number;
};

/** Length of the lease: longer than its work takes. */
const CLAIM = "120 seconds";
/** Atoms that a lease puts into the queue; rows of a table that a lease deletes. */
const WALK_SLICE = 500;
const END_SLICE = 200;
/** Texts of one request, and atoms of a lease; an atom with more passages has a lease of its own. */
export const MAX_TEXTS = 32;
/** Condition of a row of the queue that is due; an atom that is set aside for good never is. */
const IS_DUE = sql`due_at <= clock_timestamp()`;

/**
 * Claims a library that has something to embed: in the next team, the library that has waited longest. Claims none if
 * the database keeps no vectors.
 *
 * @param claim a new UUID
 */
export async function claimEmbedding(
  { db }: Store,
  claim: string,
  { except, after }: TeamBounds = ANY_TEAM,
): Promise<EmbeddingLease | undefined> {
  const { rows } = await sql<ModelRow & Omit<EmbeddingLease, keyof EmbeddingModel>>`${preparedStatement}
    with claimed as (
      update library_embeddings set claim = ${claim}::uuid, due_at = clock_timestamp() + ${CLAIM}::interval
      where library_id = (
        select e.library_id from library_embeddings e join libraries l on l.id = e.library_id
        where to_regclass('atom_passages') is not null and e.due_at <= clock_timestamp() and (e.is_ended or l.state = 'active' and (not e.is_walked or e.failure is not null or exists (
          select from embedding_queue where library_id = e.library_id and ${IS_DUE})))
          and l.team_id <> all(${[...except]}::text[])
        order by l.team_id <= ${after}, l.team_id, e.due_at limit 1 for update of e skip locked)
      returning *
    )
    select e.library_id as "libraryId", (select team_id from libraries where id = e.library_id) as "teamId", e.claim::text as claim, e.is_ended as "isEnded", e.is_walked as "isWalked",
      e.space, e.failures, ${MODEL_COLUMNS}
    from claimed e ${MODEL_JOINS}`.execute(db);
  const [row] = rows;
  return row && { ...row, ...toModel(row) };
}

/**
 * Puts some of the atoms that were there before into the queue: first the library's, then those of each subject's part.
 *
 * @returns true if these were the last
 */
export async function walkSome({ db }: Store, { libraryId, claim }: EmbeddingLease): Promise<boolean> {
  const { rows } = await withOrderedPlans(
    db,
    (tx) =>
      sql<{ isWalked: boolean }>`
      with slice as materialized (
        select a.id, a.created_at, a.revision from library_embeddings e cross join lateral (
          select * from atoms a where a.library_id = case when e.walked_subject is null then e.library_id else (
              select part.id from libraries part where part.parent_id = e.library_id and part.subject = e.walked_subject
            ) end and (a.created_at, a.id) > (e.walked_at, e.walked_id)
          order by a.created_at, a.id limit ${WALK_SLICE}
        ) a where e.library_id = ${libraryId} and e.claim = ${claim}::uuid
      ), queued as (
        insert into embedding_queue (atom_id, library_id, revision)
        select a.id, ${libraryId}, a.revision from atoms a
        where a.id = any(array(select id from slice)) order by a.id for key share
        on conflict (atom_id) do nothing
      ), last as (
        select created_at, id from slice order by created_at desc, id desc limit 1
      ), next as (
        select part.subject from libraries part join library_embeddings e on e.library_id = part.parent_id
        where part.parent_id = ${libraryId} and part.subject > coalesce(e.walked_subject, '')
          and (select count(*) from slice) < ${WALK_SLICE}
        order by part.subject limit 1
      )
      update library_embeddings e set
        is_walked = (select count(*) from slice) < ${WALK_SLICE} and not exists (select from next),
        walked_subject = coalesce((select subject from next), e.walked_subject),
        walked_at = case when exists (select from next) then '-infinity'
          else coalesce((select created_at from last), e.walked_at) end,
        walked_id = coalesce((select id from last), e.walked_id)
      where library_id = ${libraryId} and claim = ${claim}::uuid
      returning is_walked as "isWalked"`.execute(tx),
    "read write",
  );
  return rows[0]?.isWalked === true;
}

/**
 * Returns the atoms of a library to embed in one request, the longest waiting first. If all of them were refused
 * before, it returns the atom refused least often, alone. Expired atoms leave the queue, and so do those of an erased
 * subject, which are deleted later.
 */
export async function takeBatch({ db }: Store, { libraryId }: EmbeddingLease): Promise<WaitingAtom[]> {
  const rows = await withOrderedPlans(
    db,
    async (tx) => {
      const found = await sql<Omit<WaitingAtom, "passages"> & { content: string }>`
      with q as materialized (
        select atom_id, tries, due_at from embedding_queue
        where library_id = ${libraryId} and ${IS_DUE}
        order by due_at, atom_id limit ${MAX_TEXTS}
      ), found as materialized (
        select a.id, a.revision, a.content, q.tries, q.due_at, ${UNEXPIRED} and l.state <> 'deleted' as is_kept
        from q join atoms a on a.id = q.atom_id join libraries l on l.id = a.library_id
      ), gone as (
        delete from embedding_queue where atom_id = any(array(select id from found where not is_kept))
      )
      select id, revision, content, tries from found where is_kept order by due_at, id`.execute(tx);
      return found.rows;
    },
    "read write",
  );
  const waiting = rows.map(({ content, ...atom }) => ({ ...atom, passages: passagesOf(content) }));
  const untried = waiting.filter(({ tries }) => tries === 0);
  if (untried.length === 0) return waiting.toSorted((a, b) => a.tries - b.tries).slice(0, 1);
  const batch: WaitingAtom[] = [];
  let passages = 0;
  for (const atom of untried) {
    passages += atom.passages.length;
    if (batch.length === 0 || passages <= MAX_TEXTS) batch.push(atom);
  }
  return batch;
}

/** Deletes a slice of the vectors and the queue of an embedding that has ended, and at last the embedding's row. */
export async function clearSome({ db }: Store, { libraryId, claim }: EmbeddingLease): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql`select from library_embeddings
      where library_id = ${libraryId} and claim = ${claim}::uuid and is_ended for update`.execute(tx);
    if (rows.length === 0) return;
    const deleted = await deleteSlices(tx, libraryId);
    await (deleted === 0
      ? sql`delete from library_embeddings where library_id = ${libraryId}`
      : sql`update library_embeddings set claim = null, due_at = clock_timestamp() where library_id = ${libraryId}`
    ).execute(tx);
  });
}

async function deleteSlices(db: Db, libraryId: string): Promise<number> {
  let deleted = 0;
  for (const table of ["atom_embeddings", "embedding_queue"]) {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where atom_id = any(array(
      select v.atom_id from libraries l cross join lateral (
        select atom_id from ${sql.table(table)} where library_id = l.id limit ${END_SLICE}) v
      where l.id = ${libraryId} or l.parent_id = ${libraryId} limit ${END_SLICE}))`.execute(db);
    deleted += Number(numAffectedRows ?? 0n);
  }
  return deleted;
}
