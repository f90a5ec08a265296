import { type RawBuilder, sql } from "kysely";
import type { RevocationReason } from "../../domain/key/stored/stored-key.ts";
import type { Db } from "../database/change.ts";
import { hasVectorTable } from "../database/migrate/vector-table.ts";
import { preparedStatement } from "../database/prepared-statement.ts";

/** Number up to which atoms are counted. */
export const MAX_COUNTED_ATOMS = 10_000;

/** Progress of a library's embedding. */
export type EmbeddingProgress = {
  readonly keyId: string;
  /** Reason for which the library's key was revoked; null while the key lives. */
  readonly revoked: RevocationReason | null;
  /** True if the database can store vectors. */
  readonly hasVectors: boolean;
  /** Number of atoms that wait, counted up to 10,000, without those that are set aside. */
  readonly waiting: number;
  /** True if more atoms wait, or the earlier atoms of the library have not all been queued. */
  readonly isMore: boolean;
  /**
   * Number of atoms that are set aside, for good or until a retry, and the reason for one of them. If more than
   * {@link MAX_COUNTED_ATOMS} of the queue are due, or not yet due, others beyond the first of them may be set aside
   * too.
   */
  readonly setAside: number;
  readonly refusal: string | null;
  /** Reason why the last attempt failed; null if it did not fail. */
  readonly failure: string | null;
};

/** @returns undefined if the library is not embedded */
export async function embeddingProgress(db: Db, libraryId: string): Promise<EmbeddingProgress | undefined> {
  // Of a queue of a million the ends are read alone: what is set aside is due later, but for what is due again.
  const some = (due: RawBuilder<unknown>) => sql`(select refusal from embedding_queue
    where library_id = e.library_id and ${due} limit ${MAX_COUNTED_ATOMS + 1})`;
  const { rows } = await sql<{
    keyId: string;
    revoked: RevocationReason | null;
    walked: boolean;
    waiting: number;
    setAside: number;
    refusal: string | null;
    failure: string | null;
  }>`${preparedStatement}
    select e.key_id as "keyId", k.revocation_reason as revoked, e.is_walked as walked, e.failure,
      (select count(*)::integer from (select from embedding_queue where library_id = e.library_id and refusal is null
        limit ${MAX_COUNTED_ATOMS + 1}) q) as waiting,
      aside."setAside", aside.refusal
    from library_embeddings e join keys k on k.id = e.key_id cross join lateral (
      select count(refusal)::integer as "setAside", min(refusal) as refusal from (
        ${some(sql`due_at <= clock_timestamp() order by due_at`)} union all
        ${some(sql`due_at > clock_timestamp() order by due_at desc`)}) q) aside
    where e.library_id = ${libraryId} and not e.is_ended`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { walked, waiting, ...rest } = row;
  const isMore = waiting > MAX_COUNTED_ATOMS || !walked;
  return { ...rest, waiting: Math.min(waiting, MAX_COUNTED_ATOMS), isMore, hasVectors: await hasVectorTable(db) };
}
