import type { KeyAttributes, KeyRecord, KeyState, VersionState } from "../../../domain/access/key-record.ts";
import type { DeclaredLimits } from "../../../domain/access/rate-limit.ts";
import { isScope, scopeSet } from "../../../domain/access/scopes.ts";
import type { KeyBudgets } from "../../../domain/budget/budget.ts";
import { fromDigest } from "../../database/digest.ts";
import { toLimitScope, toSubjectRule, toTokenLimit } from "./key-policy.ts";

/** Version of a key with its digest (32 latin1 characters). */
export type IndexedKey = {
  readonly digest: string;
  readonly keyId: string;
  readonly version: number;
  /** Milliseconds since the epoch; Infinity if it never ends. */
  readonly expiresAt: number;
  /** True for an imported version or a placeholder, whose text need not have the shape of the keys that we mint. */
  readonly importedFormat: boolean;
  /** Attributes of the version. Within one reading, equal attributes are the same object. */
  readonly attributes: KeyAttributes;
};

/** States that a version never leaves, and in which it is refused. A state unknown to this build is not among them. */
export const ENDED_VERSION_STATES = ["retired", "voided", "revoked"] as const satisfies readonly VersionState[];

/** Row of the view `key_records`, without the columns that no decision reads. */
export type RecordRow = {
  readonly key_id: string;
  readonly version: number;
  readonly digest: Uint8Array;
  readonly is_foreign: boolean;
  readonly expires_ms: number | null;
  /** {@link ATTRIBUTE_COLUMNS} as the database writes a record of them. */
  readonly attributes: string;
};

/** Columns whose values many rows share. */
export const ATTRIBUTE_COLUMNS = [
  "team_id",
  "namespace",
  "team_holds_namespace",
  "state",
  "version_state",
  "scopes",
  "bound_gateway_id",
  "library_ids",
  "mcp_default_library_id",
  "team_default_library_id",
  "to_json(allowed_models)",
  "requests_per_minute",
  "burst",
  "rate_scope",
  "concurrent",
  "subject",
  "to_json(allowed_cidrs)",
  "to_json(team_allowed_cidrs)",
  "team_limits",
  "tokens_per_minute",
  "budgets",
] as const;
type AttributeColumn = (typeof ATTRIBUTE_COLUMNS)[number];

/**
 * Columns of a {@link RecordRow}. The fewer columns a row has, the less it costs to read: most are sent as one text.
 */
export const RECORD_COLUMNS = `key_id, version, digest, is_foreign, expires_ms, row(${ATTRIBUTE_COLUMNS.join(", ")})::text as attributes`;

/** Makes a reader for the rows of one reading. */
export function recordReader(): (row: RecordRow) => IndexedKey {
  const attributesOf = attributesReader();
  return (row) => ({
    digest: fromDigest(row.digest),
    keyId: row.key_id,
    version: row.version,
    expiresAt: row.expires_ms ?? Number.POSITIVE_INFINITY,
    importedFormat: row.is_foreign,
    attributes: attributesOf(row.attributes),
  });
}

/** Converts one row to the record by which requests with that version are decided. */
export function recordOfRow(row: RecordRow): KeyRecord {
  const { keyId, version, expiresAt, attributes } = recordReader()(row);
  return { ...attributes, keyId, version, expiresAt };
}

/**
 * Makes a reader of attributes that returns equal attributes as one object. Equal texts mean equal values, because the
 * text of a record tells null from empty.
 */
export function attributesReader(): (text: string) => KeyAttributes {
  const known = new Map<string, KeyAttributes>();
  return (text) => {
    let attributes = known.get(text);
    if (attributes === undefined) {
      attributes = toAttributes(text);
      known.set(text, attributes);
    }
    return attributes;
  };
}

/** Parses a record. Casts: a state of a later build is kept as it is, so that the decision refuses it (threats c42). */
function toAttributes(record: string): KeyAttributes {
  const fields = fieldsOf(record);
  if (fields.length !== ATTRIBUTE_COLUMNS.length)
    throw new TypeError("a key's record has other fields than were asked for");
  const fieldOf = (column: AttributeColumn): string | null => fields[ATTRIBUTE_COLUMNS.indexOf(column)] ?? null;
  const listOf = (column: AttributeColumn): string[] | null => {
    const value = fieldOf(column);
    return value === null ? null : (JSON.parse(value) as string[]);
  };
  const textOf = (column: AttributeColumn): string => {
    const value = fieldOf(column);
    if (value === null) throw new TypeError(`a key's record has no ${column}`);
    return value;
  };
  const libraryIds = fieldOf("library_ids");
  const [requestsPerMinute, burst] = [fieldOf("requests_per_minute"), fieldOf("burst")];
  const [concurrent, teamLimits] = [fieldOf("concurrent"), fieldOf("team_limits")];
  const budgets = fieldOf("budgets");
  const tokensPerMinute = fieldOf("tokens_per_minute");
  const restrictions = {
    subject: toSubjectRule(fieldOf("subject")),
    allowedCIDRs: listOf("to_json(allowed_cidrs)"),
    teamAllowedCIDRs: listOf("to_json(team_allowed_cidrs)"),
  };
  return {
    teamId: textOf("team_id"),
    namespace: textOf("namespace"),
    teamHoldsNamespace: textOf("team_holds_namespace") === "t",
    state: stateOf(textOf("state"), restrictions),
    versionState: textOf("version_state") as VersionState,
    // A scope of a later build grants nothing here.
    scopes: scopeSet(textOf("scopes").split(" ").filter(isScope)),
    boundGatewayId: fieldOf("bound_gateway_id"),
    libraryIds: libraryIds === null ? null : libraryIds.split(" ").filter((id) => id !== ""),
    mcpDefaultLibraryId: fieldOf("mcp_default_library_id"),
    teamDefaultLibraryId: fieldOf("team_default_library_id"),
    allowedModels: listOf("to_json(allowed_models)"),
    rateLimit:
      requestsPerMinute === null || burst === null
        ? null
        : {
            requestsPerMinute: Number(requestsPerMinute),
            burst: Number(burst),
            scope: toLimitScope(fieldOf("rate_scope")),
          },
    concurrent: concurrent === null ? null : Number(concurrent),
    tokenLimit: toTokenLimit(tokensPerMinute === null ? null : Number(tokensPerMinute), fieldOf("rate_scope")),
    teamLimits: teamLimits === null ? null : (JSON.parse(teamLimits) as DeclaredLimits),
    ...restrictions,
    ...(budgets !== null && { budgets: JSON.parse(budgets) as KeyBudgets }),
  };
}

type Restrictions = Pick<KeyAttributes, "subject" | "allowedCIDRs" | "teamAllowedCIDRs">;

/** Maps the view's states for restricted keys to `active`: a build that does not know the restriction refuses them. */
function stateOf(state: string, { subject, allowedCIDRs, teamAllowedCIDRs }: Restrictions): KeyState {
  const isOfSubject = state === "of_subject" && subject !== null;
  const isOfNetworks = state === "of_networks" && (allowedCIDRs !== null || teamAllowedCIDRs !== null);
  return (isOfSubject || isOfNetworks ? "active" : state) as KeyState;
}

/** Field of a record: empty for null; else as it is, or in quotes, in which a quote or a backslash is doubled. */
const FIELD = /[(,](?:"((?:[^"\\]|""|\\\\)*)"|([^",]*))/gy;

/**
 * Splits the database's text of a record into its values (PostgreSQL's manual, "Composite Type Input and Output
 * Syntax").
 */
function fieldsOf(record: string): (string | null)[] {
  return Array.from(record.slice(0, -1).matchAll(FIELD), ([, quoted, plain]) =>
    quoted === undefined ? plain || null : quoted.replace(/(["\\])\1/g, "$1"),
  );
}
