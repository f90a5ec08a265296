import { sql } from "kysely";
import { askByBitmaps } from "../../../store/database/bitmap-plans.ts";
import type { Db } from "../../../store/database/change.ts";

/** Extraction that a library declares, and the state of its conversations. */
export type ExtractionState = {
  /** Gateway of the model; null if it is gone. */
  readonly gateway: { readonly id: string; readonly namespace: string; readonly name: string } | null;
  readonly model: string;
  readonly isRevoked: boolean;
  readonly tokensPerDay: number;
  /** Tokens used since midnight UTC. */
  readonly usedTokens: number;
  /** Number of conversations that wait or are being read. */
  readonly waiting: number;
  /** Number of conversations that were handed over in the last day and have failed. */
  readonly failed: number;
  /** Reason for the latest failure among the waiting and the failed conversations. */
  readonly lastFailure: string | null;
};

/** @returns undefined if the library declares no extraction */
export async function findExtractionState(db: Db, libraryId: string): Promise<ExtractionState | undefined> {
  return db
    .transaction()
    .setAccessMode("read only")
    .execute(async (tx) => {
      // Jobs are kept for 30 days, and only those of the last day are read.
      await askByBitmaps(tx);
      const { rows } = await sql<ExtractionState>`
        with open as materialized (
          select state, failure, created_at from extraction_jobs where library_id = ${libraryId} and ended_at is null
        ), ended as materialized (
          select state, failure, ended_at from extraction_jobs where library_id = ${libraryId}
            and created_at >= clock_timestamp() - interval '1 day' and ended_at is not null
        )
        select e.model, e.tokens_per_day::float8 as "tokensPerDay",
          (case when e.used_on = (clock_timestamp() at time zone 'UTC')::date then e.used_tokens else 0 end)::float8
            as "usedTokens",
          coalesce((select state = 'revoked' from keys where id = e.key_id), false) as "isRevoked",
          (select json_build_object('id', g.id, 'namespace', g.namespace, 'name', g.name) from gateways g
            where g.id = e.gateway_id and g.state = 'active') as gateway,
          (select count(*)::integer from open) as waiting,
          (select count(*)::integer from ended where state = 'failed') as failed,
          (select failure from (
            select failure, created_at as at from open union all select failure, ended_at from ended
          ) tried where failure is not null order by at desc limit 1) as "lastFailure"
        from library_extractions e where e.library_id = ${libraryId}`.execute(tx);
      return rows[0];
    });
}
