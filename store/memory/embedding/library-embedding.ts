import { sql } from "kysely";
import type { KeyPolicy, RevocationReason } from "../../../domain/key/stored-key.ts";
import type { Tx } from "../../database/change.ts";
import { newId } from "../../database/ids.ts";
import { lockKey } from "../../keys/api-managed-keys.ts";
import { reserveVersion } from "../../keys/key-reservations.ts";
import { activateVersion } from "../../keys/key-versions.ts";
import { revokeKey, updateKeyPolicy } from "../../keys/keys.ts";

/** How a library is declared to be embedded. */
export type EmbeddingDraft = {
  readonly library: {
    readonly id: string;
    readonly cluster: string;
    readonly namespace: string;
    readonly name: string;
    readonly teamId: string;
  };
  /** Undefined for a gateway that does not exist: then no embedding begins, and one that there is may call none. */
  readonly gatewayId: string | undefined;
  readonly model: string;
  /** Null for as many as the model gives. */
  readonly dimensions: number | null;
  /** Of the declaration. */
  readonly generation: number;
  /** Makes a secret that is not kept: no client presents the library's key, and servers act for it by its digest. */
  readonly mint: () => { readonly digest: string; readonly prefix: string };
};

type Row = {
  key_id: string;
  gateway_id: string;
  model: string;
  asked_dimensions: number | null;
  is_ended: boolean;
};

/** Reasons for which a person has ended a key: no other is minted in its place. */
const FINAL: ReadonlySet<RevocationReason> = new Set<RevocationReason>(["ByHand", "Leaked"]);

/**
 * Has a library embedded as declared, by a key of its own: bound to the gateway, with `gateway:embed` alone and the one
 * model. It is minted here and its secret forgotten, since servers act for it by its digest. One that a person has
 * revoked stays so until the declaration of the embedding has ended.
 */
export async function declareEmbedding(tx: Tx, draft: EmbeddingDraft): Promise<void> {
  const { library, gatewayId, model, dimensions } = draft;
  const { rows } = await sql<Row>`select key_id, gateway_id, model, asked_dimensions, is_ended from library_embeddings
    where library_id = ${library.id} for update`.execute(tx);
  const [row] = rows;
  if (gatewayId === undefined && (row === undefined || row.is_ended)) return;
  const keyId = await declareKey(tx, draft, row?.is_ended === false ? row.key_id : undefined);
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

/** Has all atoms of a library embedded anew: vectors of another model are not compared with those to come. */
export async function beginSpace(tx: Tx, libraryId: string): Promise<void> {
  await sql`update library_embeddings set space = space + 1, served_by = null, dimensions = null,
      walked_at = '-infinity', walked_id = '00000000-0000-0000-0000-000000000000', walked_subject = null,
      is_walked = false, failures = 0, failure = null, due_at = clock_timestamp() + interval '2 seconds', claim = null
    where library_id = ${libraryId}`.execute(tx);
  await sql`update embedding_queue set tries = 0, refusal = null, due_at = clock_timestamp()
    where library_id = ${libraryId}`.execute(tx);
}

/** @returns the id of the key to go by; undefined where a person has revoked it */
async function declareKey(tx: Tx, draft: EmbeddingDraft, keyId: string | undefined): Promise<string | undefined> {
  const { library, gatewayId, model, generation } = draft;
  const policy: KeyPolicy = {
    displayName: `Embeddings of library ${library.name}`,
    scopes: ["gateway:embed"],
    boundGatewayId: gatewayId ?? "",
    libraryIds: null,
    mcpDefaultLibraryId: null,
    allowedModels: [model],
    suspended: false,
    expiresAt: null,
    rateLimit: null,
    concurrent: null,
    subject: null,
  };
  const key = keyId === undefined ? undefined : await lockKey(tx, keyId);
  if (key !== undefined && key.state !== "revoked") {
    const { boundGatewayId, allowedModels } = key.policy;
    if (boundGatewayId !== policy.boundGatewayId || allowedModels?.[0] !== model) {
      const latest = Math.max(generation, key.generation);
      await updateKeyPolicy(tx, { keyId: key.id, policy, generation: latest, expiresAfter: null });
    }
    return key.id;
  }
  if (key?.revocation != null && FINAL.has(key.revocation.reason)) return undefined;
  const id = newId("key");
  const { cluster, namespace, teamId } = library;
  const name = `embeddings-${library.name}`;
  // No declaration of a key owns it: it can be revoked by hand, and nothing else.
  const managedBy = `MemoryLibrary ${namespace}/${library.name}`;
  await reserveVersion(tx, {
    key: { id, cluster, namespace, name, ownerUid: null, teamId, source: "Generate", generation, managedBy },
    ...{ policy, number: 1, ...draft.mint(), expiresAfter: null, rotationTrigger: null },
  });
  await activateVersion(tx, { keyId: id, number: 1, overlapMs: 0 });
  return id;
}

/**
 * Ends the embedding of a library: its key is revoked at once, and what is left of it goes some at a time. One that is
 * not embedded is no error.
 */
export async function endEmbedding(tx: Tx, libraryId: string, reason: "Deleted" | "Moved" = "Deleted"): Promise<void> {
  const { rows } = await sql<{ key_id: string }>`update library_embeddings set is_ended = true, claim = null,
      due_at = clock_timestamp()
    where library_id = ${libraryId} and not is_ended returning key_id`.execute(tx);
  for (const { key_id } of rows) await revokeKey(tx, key_id, reason);
}
