import { type Selectable, sql } from "kysely";
import type { LimitScope, TokenLimit } from "../../../domain/access/rate-limit.ts";
import { isScope } from "../../../domain/access/scopes.ts";
import type { SubjectRule } from "../../../domain/access/subject.ts";
import { eachFact, FACT_NAMES, type StatedFacts } from "../../../domain/key/declaration/facts.ts";
import type { KeyPolicy } from "../../../domain/key/declaration/key-policy.ts";
import { buildPolicy, NO_POLICY } from "../../../domain/key/fields/key-policies.ts";
import type { Tx } from "../../database/change.ts";
import type { Database } from "../../database/schema.ts";
import { toDate, toMs } from "../../database/times.ts";

/** Value of the column `subject` for a key that must name a subject with each call. No subject has this name. */
const REQUIRED = "*";

/** Returns the value of a key's column `subject`. */
export function subjectColumn(rule: SubjectRule | null): string | null {
  if (rule === null) return null;
  return rule.mode === "Required" ? REQUIRED : rule.subject;
}

/** Reads the subject rule from a key's column `subject`. */
export function toSubjectRule(column: string | null): SubjectRule | null {
  if (column === null) return null;
  return column === REQUIRED ? { mode: "Required" } : { mode: "Bound", subject: column };
}

/** Reads the scope of a key's limits from its column `rate_scope`. A value unknown to this build counts as Replica. */
export function toLimitScope(column: string | null): LimitScope {
  return column === "Installation" ? column : "Replica";
}

/** Reads a key's token limit from its columns. */
export function toTokenLimit(tokensPerMinute: number | null, scope: string | null): TokenLimit | null {
  return tokensPerMinute === null ? null : { tokensPerMinute, scope: toLimitScope(scope) };
}

/** Returns the value of a key's column `facts`: the facts that the key states. */
function factsColumn(stated: StatedFacts): Readonly<Record<string, string>> {
  return Object.fromEntries(FACT_NAMES.flatMap((name) => (stated[name] === null ? [] : [[name, stated[name]]])));
}

/** Row of `keys`, with the libraries of a restricted key. */
type PolicyRow = Omit<Selectable<Database["keys"]>, "library_mode"> & {
  readonly library_ids: readonly string[] | null;
};

/** Storage of one field of a policy: how it is written to columns of `keys`, as JSON values, and read from them. */
type StoredField<Value> = {
  readonly write: (policy: KeyPolicy) => { readonly [C in keyof Database["keys"]]?: unknown };
  readonly read: (row: PolicyRow) => Value;
};

const STORED: { readonly [F in keyof KeyPolicy]: StoredField<KeyPolicy[F]> } = {
  suspended: {
    write: ({ suspended }) => ({ state: suspended ? "suspended" : "active" }),
    read: ({ state }) => state === "suspended",
  },
  displayName: {
    write: ({ displayName }) => ({ display_name: displayName }),
    read: (row) => row.display_name,
  },
  scopes: {
    write: ({ scopes }) => ({ scopes }),
    read: ({ scopes }) => scopes.filter(isScope),
  },
  boundGatewayId: {
    write: ({ boundGatewayId: id }) => ({ gateway_bound: id !== null, gateway_id: id === "" ? null : id }),
    read: (row) => (row.gateway_bound ? (row.gateway_id ?? "") : null),
  },
  // The ids are in a table of their own.
  libraryIds: {
    write: ({ libraryIds }) => ({ library_mode: libraryIds === null ? "all" : "restricted" }),
    read: (row) => row.library_ids,
  },
  mcpDefaultLibraryId: {
    write: ({ mcpDefaultLibraryId }) => ({ mcp_default_library_id: mcpDefaultLibraryId }),
    read: (row) => row.mcp_default_library_id,
  },
  allowedModels: {
    write: ({ allowedModels }) => ({ allowed_models: allowedModels }),
    read: (row) => row.allowed_models,
  },
  expiresAt: {
    write: ({ expiresAt }) => ({ expires_at: toDate(expiresAt) }),
    read: (row) => toMs(row.expires_at),
  },
  rateLimit: {
    write: ({ rateLimit, tokenLimit }) => ({
      requests_per_minute: rateLimit?.requestsPerMinute ?? null,
      burst: rateLimit?.burst ?? null,
      rate_scope: (rateLimit ?? tokenLimit)?.scope === "Installation" ? "Installation" : null,
    }),
    read: ({ requests_per_minute: requestsPerMinute, burst, rate_scope }) =>
      requestsPerMinute === null || burst === null
        ? null
        : { requestsPerMinute, burst, scope: toLimitScope(rate_scope) },
  },
  concurrent: {
    write: ({ concurrent }) => ({ concurrent }),
    read: ({ concurrent }) => concurrent,
  },
  tokenLimit: {
    write: ({ tokenLimit }) => ({ tokens_per_minute: tokenLimit?.tokensPerMinute ?? null }),
    read: (row) => toTokenLimit(row.tokens_per_minute, row.rate_scope),
  },
  budgets: {
    write: ({ budgets }) => ({ budgets }),
    read: ({ budgets }) => budgets,
  },
  subject: {
    write: ({ subject }) => ({ subject: subjectColumn(subject) }),
    read: ({ subject }) => toSubjectRule(subject),
  },
  allowedCIDRs: {
    write: ({ allowedCIDRs }) => ({ allowed_cidrs: allowedCIDRs }),
    read: (row) => row.allowed_cidrs,
  },
  ...eachFact(
    (name): StoredField<string | null> => ({
      write: (policy) => ({ facts: factsColumn(policy) }),
      read: ({ facts }) => facts[name] ?? null,
    }),
  ),
};

const WRITERS = Object.values(STORED).map(({ write }) => write);

/** Returns a policy as columns of `keys`, for {@link rowsOfKeys}. */
export function policyColumns(policy: KeyPolicy): Readonly<Record<string, unknown>> {
  return Object.assign({}, ...WRITERS.map((write) => write(policy)));
}

/** Columns that a policy is read from: columns of `keys`, and the libraries. */
export const POLICY_COLUMNS: readonly string[] = [
  ...Object.keys(policyColumns(NO_POLICY)).filter((column) => column !== "library_mode"),
  "library_ids",
];

/** Reads the policy from a row of `keys`. */
export function toPolicy(row: PolicyRow): KeyPolicy {
  return buildPolicy((field) => STORED[field].read(row));
}

/**
 * Returns rows of `keys` as SQL, with the alias `given`, so that a single statement writes any number of rows. Each row
 * is given by column names.
 *
 * @returns `given` follows `from` in the statement; `columns` are the names of the columns
 */
export function rowsOfKeys(rows: readonly Readonly<Record<string, unknown>>[]) {
  const columns = Object.keys(rows[0] ?? {});
  return { columns, given: sql`jsonb_populate_recordset(null::keys, ${JSON.stringify(rows)}::jsonb) given` };
}

/** Stores the restricted library lists of keys, and writes only the rows that differ. */
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
