import { sql } from "kysely";
import type { KeyPolicy } from "../../domain/key/stored-key.ts";
import type { Tx } from "../database/change.ts";
import { toDate } from "../database/times.ts";

/** A policy as columns of `keys`. */
export function policyColumns(policy: KeyPolicy) {
  return {
    state: policy.suspended ? "suspended" : "active",
    display_name: policy.displayName,
    scopes: [...policy.scopes],
    gateway_bound: policy.boundGatewayId !== null,
    gateway_id: policy.boundGatewayId === "" ? null : policy.boundGatewayId,
    library_mode: policy.libraryIds === null ? "all" : "restricted",
    mcp_default_library_id: policy.mcpDefaultLibraryId,
    allowed_models: policy.allowedModels === null ? null : [...policy.allowedModels],
    expires_at: toDate(policy.expiresAt),
    requests_per_minute: policy.rateLimit?.requestsPerMinute ?? null,
    burst: policy.rateLimit?.burst ?? null,
    concurrent: policy.concurrent,
  };
}

/** Makes the restricted lists of keys what they should be, touching only the rows that differ. */
export async function saveKeyLibraries(
  tx: Tx,
  keys: readonly { readonly keyId: string; readonly libraryIds: readonly string[] | null }[],
): Promise<void> {
  const wanted = keys.flatMap(({ keyId, libraryIds }) => [...new Set(libraryIds)].map((id) => ({ keyId, id })));
  const given = sql`unnest(${wanted.map(({ keyId }) => keyId)}::text[], ${wanted.map(({ id }) => id)}::text[])
    as given (key_id, library_id)`;
  await sql`delete from key_libraries l where l.key_id = any(${keys.map(({ keyId }) => keyId)}::text[])
    and not exists (select from ${given} where given.key_id = l.key_id and given.library_id = l.library_id)`.execute(
    tx,
  );
  await sql`insert into key_libraries (key_id, library_id) select key_id, library_id from ${given}
    on conflict do nothing`.execute(tx);
}
