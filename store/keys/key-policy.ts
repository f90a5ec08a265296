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

/** Makes a key's restricted list what it should be, touching only the rows that differ. */
export async function saveKeyLibraries(tx: Tx, keyId: string, libraryIds: readonly string[] | null): Promise<void> {
  const wanted = libraryIds ?? [];
  await sql`delete from key_libraries where key_id = ${keyId} and library_id <> all(${wanted}::text[])`.execute(tx);
  await sql`insert into key_libraries (key_id, library_id)
    select ${keyId}, id from (select distinct id from unnest(${wanted}::text[]) as given (id)) wanted
    on conflict do nothing`.execute(tx);
}
