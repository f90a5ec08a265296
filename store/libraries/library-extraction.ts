import { sql } from "kysely";
import type { Db, Tx } from "../database/change.ts";
import { revokeKey } from "../keys/lifecycle/revocation.ts";
import { declareLibraryKey, type LibraryModelDraft } from "./library-key.ts";

/** Declared extraction of statements from conversations into a library. */
export type ExtractionDraft = LibraryModelDraft & { readonly tokensPerDay: number };

/**
 * Sets up the extraction of statements from conversations into a library as declared, with a key of its own that has
 * only `gateway:generate`. A key that a person has revoked stays revoked until the declaration of the extraction has
 * ended.
 */
export async function declareExtraction(tx: Tx, draft: ExtractionDraft): Promise<void> {
  const { library, gatewayId, model, tokensPerDay } = draft;
  const { rows } = await sql<{ key_id: string }>`select key_id from library_extractions
    where library_id = ${library.id} for update`.execute(tx);
  const [row] = rows;
  if (gatewayId === undefined && row === undefined) return;
  const keyId = await declareLibraryKey(tx, "extraction", draft, row?.key_id);
  if (gatewayId === undefined || keyId === undefined) return;
  await sql`insert into library_extractions (library_id, gateway_id, model, key_id, tokens_per_day)
    values (${library.id}, ${gatewayId}, ${model}, ${keyId}, ${tokensPerDay}::bigint)
    on conflict (library_id) do update set gateway_id = excluded.gateway_id, model = excluded.model,
      key_id = excluded.key_id, tokens_per_day = excluded.tokens_per_day, due_at = clock_timestamp(), failures = 0
    where (library_extractions.gateway_id, library_extractions.model, library_extractions.key_id,
        library_extractions.tokens_per_day)
      is distinct from (excluded.gateway_id, excluded.model, excluded.key_id, excluded.tokens_per_day)`.execute(tx);
}

/** Failure of conversations that still waited when the extraction ended. */
const ENDED = "the library takes no statements out of conversations any more";

/**
 * Ends the extraction: the library's key is revoked at once, and the conversations that wait are not read any more. It
 * is no error if the library has no extraction.
 */
export async function endExtraction(tx: Tx, libraryId: string, reason: "Deleted" | "Moved" = "Deleted"): Promise<void> {
  const { rows } = await sql<{ key_id: string }>`delete from library_extractions where library_id = ${libraryId}
    returning key_id`.execute(tx);
  for (const { key_id } of rows) await revokeKey(tx, key_id, reason);
  if (rows.length === 0) return;
  await sql`update extraction_jobs set state = 'failed', failure = ${ENDED}, passages = '{}', statements = '[]',
    ended_at = clock_timestamp() where library_id = ${libraryId} and ended_at is null`.execute(tx);
}

/** True if a library extracts statements from conversations. */
export async function isExtracting(db: Db, libraryId: string): Promise<boolean> {
  const { rows } = await sql`select from library_extractions where library_id = ${libraryId}`.execute(db);
  return rows.length > 0;
}
