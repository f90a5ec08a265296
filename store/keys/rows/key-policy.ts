import { sql } from "kysely";
import type { LimitScope, TokenLimit } from "../../../domain/access/rate-limit.ts";
import type { SubjectRule } from "../../../domain/access/subject.ts";
import type { KeyPolicy } from "../../../domain/key/declaration/key-policy.ts";
import type { Tx } from "../../database/change.ts";
import { toDate } from "../../database/times.ts";

/** What the column `subject` has of a key that names one with each call: no subject is called so. */
const REQUIRED = "*";

/** The column `subject` of a key. */
export function subjectColumn(rule: SubjectRule | null): string | null {
  if (rule === null) return null;
  return rule.mode === "Required" ? REQUIRED : rule.subject;
}

/** The rule that the column `subject` of a key says. */
export function toSubjectRule(column: string | null): SubjectRule | null {
  if (column === null) return null;
  return column === REQUIRED ? { mode: "Required" } : { mode: "Bound", subject: column };
}

/** Who counts for a key's rate, by its column `rate_scope`: whatever this build does not know is not more than a replica's. */
export function toLimitScope(column: string | null): LimitScope {
  return column === "Installation" ? column : "Replica";
}

/** A key's limit of tokens, by its columns. */
export function toTokenLimit(tokensPerMinute: number | null, scope: string | null): TokenLimit | null {
  return tokensPerMinute === null ? null : { tokensPerMinute, scope: toLimitScope(scope) };
}

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
    rate_scope: (policy.rateLimit ?? policy.tokenLimit)?.scope === "Installation" ? "Installation" : null,
    concurrent: policy.concurrent,
    tokens_per_minute: policy.tokenLimit?.tokensPerMinute ?? null,
    budgets: policy.budgets && JSON.stringify(policy.budgets),
    subject: subjectColumn(policy.subject),
    allowed_cidrs: policy.allowedCIDRs === null ? null : [...policy.allowedCIDRs],
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
