import { sql } from "kysely";
import type { Tx } from "../database/change.ts";
import { revokeKey } from "../keys/lifecycle/revocation.ts";
import { declareLibraryKey, type LibraryModelDraft } from "./library-key.ts";

/** Declared embedding of a library. */
export type EmbeddingDraft = LibraryModelDraft & {
  /** Number of dimensions; null for as many as the model returns. */
  readonly dimensions: number | null;
};

type Row = {
  key_id: string;
  gateway_id: string;
  model: string;
  asked_dimensions: number | null;
  is_ended: boolean;
};

/**
 * Sets up the embedding of a library as declared, with a key of its own: bound to the gateway, with only
 * `gateway:embed` and the one model. The key is minted here and its secret forgotten, because servers act for the
 * library by the key's digest. A key that a person has revoked stays revoked until the declaration of the embedding has
 * ended.
 */
export async function declareEmbedding(tx: Tx, draft: EmbeddingDraft): Promise<void> {
  const { library, gatewayId, model, dimensions } = draft;
  const { rows } = await sql<Row>`select key_id, gateway_id, model, asked_dimensions, is_ended from library_embeddings
    where library_id = ${library.id} for update`.execute(tx);
  const [row] = rows;
  if (gatewayId === undefined && (row === undefined || row.is_ended)) return;
  const keyId = await declareLibraryKey(tx, "embeddings", draft, row?.is_ended === false ? row.key_id : undefined);
  if (gatewayId === undefined || keyId === undefined) return;
  await sql`insert into library_embeddings (library_id, gateway_id, model, asked_dimensions, key_id)
    values (${library.id}, ${gatewayId}, ${model}, ${dimensions}::integer, ${keyId})
    on conflict (library_id) do update set key_id = excluded.key_id, gateway_id = excluded.gateway_id,
      model = excluded.model, asked_dimensions = excluded.asked_dimensions, is_ended = false
    where (library_embeddings.key_id, library_embeddings.gateway_id, library_embeddings.model,
        library_embeddings.asked_dimensions, library_embeddings.is_ended)
      is distinct from (excluded.key_id, excluded.gateway_id, excluded.model, excluded.asked_dimensions, false)`.execute(
    tx,
  );
  const isSame =
    row?.is_ended === false &&
    row.gateway_id === gatewayId &&
    row.model === model &&
    row.asked_dimensions === dimensions;
  if (row !== undefined && !isSame) await beginSpace(tx, library.id);
}

/** Embeds all atoms of a library anew: vectors of different models cannot be compared. */
export async function beginSpace(tx: Tx, libraryId: string): Promise<void> {
  await sql`update library_embeddings set space = space + 1, served_by = null, dimensions = null,
      walked_at = '-infinity', walked_id = '00000000-0000-0000-0000-000000000000', walked_subject = null,
      is_walked = false, failures = 0, failure = null, due_at = clock_timestamp() + interval '2 seconds', claim = null
    where library_id = ${libraryId}`.execute(tx);
  await sql`update embedding_queue set tries = 0, refusal = null, due_at = clock_timestamp()
    where library_id = ${libraryId}`.execute(tx);
}

/**
 * Ends the embedding of a library: its key is revoked at once, and its other rows are deleted some at a time. It is no
 * error if the library is not embedded.
 */
export async function endEmbedding(tx: Tx, libraryId: string, reason: "Deleted" | "Moved" = "Deleted"): Promise<void> {
  const { rows } = await sql<{ key_id: string }>`update library_embeddings set is_ended = true, claim = null,
      due_at = clock_timestamp()
    where library_id = ${libraryId} and not is_ended returning key_id`.execute(tx);
  for (const { key_id } of rows) await revokeKey(tx, key_id, reason);
}
