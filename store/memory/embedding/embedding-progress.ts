import { type RawBuilder, sql } from "kysely";
import type { RevocationReason } from "../../../domain/key/stored/stored-key.ts";
import type { Db } from "../../database/change.ts";
import { hasVectorTable } from "../../database/migrate/vector-table.ts";

/** More are not counted. */
export const MAX_COUNTED_ATOMS = 10_000;

/** How far a library's embedding is. */
export type EmbeddingProgress = {
  readonly keyId: string;
  /** Null while the key lives. */
  readonly revoked: RevocationReason | null;
  /** Whether the database can keep vectors. */
  readonly hasVectors: boolean;
  /** Atoms that wait, counted to 10,000. */
  readonly waiting: number;
  /** More wait, or those that were there before have not all been queued. */
  readonly isMore: boolean;
  /** Atoms that were set aside, counted to one more than {@link MAX_COUNTED_ATOMS}; and why one of them was. */
  readonly setAside: number;
  readonly refusal: string | null;
  /** Why the last try failed; null where it did not. */
  readonly failure: string | null;
};

/** @returns undefined for a library that is not embedded */
export async function embeddingProgress(db: Db, libraryId: string): Promise<EmbeddingProgress | undefined> {
  const counted = (isDue: RawBuilder<unknown>) => sql`(select count(*)::integer from (select from embedding_queue
    where library_id = e.library_id and due_at ${isDue} limit ${MAX_COUNTED_ATOMS + 1}) q)`;
  const { rows } = await sql<{
    keyId: string;
    revoked: RevocationReason | null;
    walked: boolean;
    waiting: number;
    setAside: number;
    refusal: string | null;
    failure: string | null;
  }>`
    select e.key_id as "keyId", k.revocation_reason as revoked, e.is_walked as walked, e.failure,
      ${counted(sql`< 'infinity'`)} as waiting, ${counted(sql`= 'infinity'`)} as "setAside",
      (select refusal from embedding_queue where library_id = e.library_id and due_at = 'infinity' limit 1) as refusal
    from library_embeddings e join keys k on k.id = e.key_id
    where e.library_id = ${libraryId} and not e.is_ended`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { walked, waiting, ...rest } = row;
  const isMore = waiting > MAX_COUNTED_ATOMS || !walked;
  return { ...rest, waiting: Math.min(waiting, MAX_COUNTED_ATOMS), isMore, hasVectors: await hasVectorTable(db) };
}
