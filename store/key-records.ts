import { sql } from "kysely";
import type { KeyState, KeyTerms, VersionState } from "../domain/key-record.ts";
import { isScope, scopeSet } from "../domain/scopes.ts";
import type { Tx } from "./change.ts";
import { fromDigest } from "./digest.ts";

/** One version of a key, by its digest (32 latin1 characters). */
export type IndexedKey = {
  readonly digest: string;
  readonly keyId: string;
  readonly version: number;
  /** Milliseconds since the epoch; Infinity for none. */
  readonly expiresAt: number;
  /** Imported or a placeholder: its text need not have the shape of the keys that we mint. */
  readonly foreign: boolean;
  /** One reading gives equal terms as one object. */
  readonly terms: KeyTerms;
};

/** The states that a version never leaves, and in which it is refused. A state unknown here is none of them. */
export const ENDED_VERSION_STATES = ["retired", "voided", "revoked"] as const satisfies readonly VersionState[];

/** Rows fetched at a time: the event loop turns between them. */
const PAGE = 2_000;
/** What the database may use to join a snapshot's tables, so that it need not write them to disk in between. */
const JOIN_MEMORY = "64MB";

/** A row of the view `key_records`, without what no decision reads. */
export type RecordRow = {
  readonly key_id: string;
  readonly version: number;
  readonly digest: Uint8Array;
  readonly is_foreign: boolean;
  readonly expires_ms: number | null;
  /** {@link TERMS_COLUMNS} as the database writes a record of them. */
  readonly terms: string;
};

/** What many rows have in common. */
const TERMS_COLUMNS = [
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
  "concurrent",
] as const;
type TermsColumn = (typeof TERMS_COLUMNS)[number];

/** The columns of a {@link RecordRow}. The fewer a row has, the less it costs to take it in: most are sent as one text. */
export const RECORD_COLUMNS = sql.raw(
  `key_id, version, digest, is_foreign, expires_ms, row(${TERMS_COLUMNS.join(", ")})::text as terms`,
);

/**
 * Hands over every version that has not ended, page by page, so that no more than one is ever held.
 *
 * @param receive is told how many there are of all pages
 */
export async function readRecords(
  tx: Tx,
  receive: (keys: readonly IndexedKey[], total: number) => void,
): Promise<void> {
  const ended = sql.join(ENDED_VERSION_STATES.map((state) => sql.lit(state)));
  // A planner that expects a few rows of a cursor to be wanted would look up each key's joins one by one.
  await sql`set local cursor_tuple_fraction = 1`.execute(tx);
  await sql`set local work_mem = ${sql.lit(JOIN_MEMORY)}`.execute(tx);
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from key_versions where state not in (${ended})`.execute(tx);
  const total = rows[0]?.total ?? 0;
  await sql`declare records no scroll cursor for
    select ${RECORD_COLUMNS} from key_records where version_state not in (${ended})`.execute(tx);
  const read = recordReader();
  const fetchPage = () => {
    const page = sql<RecordRow>`fetch forward ${sql.lit(PAGE)} from records`.execute(tx);
    page.catch(() => {
      // Whoever waits for it is told; where taking in the page before failed, nobody does.
    });
    return page;
  };
  let page = fetchPage();
  for (;;) {
    const { rows } = await page;
    // The database works on the next page while this one is taken in.
    if (rows.length === PAGE) page = fetchPage();
    receive(rows.map(read), total);
    if (rows.length < PAGE) break;
  }
  await sql`close records`.execute(tx);
}

/** Makes what reads rows, and gives equal terms as one object: the text of a record tells null from empty, and all values apart. */
export function recordReader(): (row: RecordRow) => IndexedKey {
  const known = new Map<string, KeyTerms>();
  return (row) => {
    let terms = known.get(row.terms);
    if (terms === undefined) {
      terms = toTerms(row.terms);
      known.set(row.terms, terms);
    }
    return {
      digest: fromDigest(row.digest),
      keyId: row.key_id,
      version: row.version,
      expiresAt: row.expires_ms ?? Number.POSITIVE_INFINITY,
      foreign: row.is_foreign,
      terms,
    };
  };
}

/** Casts: a state of a later build is passed on as it is, so that the decision refuses it (threats c42). */
function toTerms(record: string): KeyTerms {
  const fields = fieldsOf(record);
  if (fields.length !== TERMS_COLUMNS.length)
    throw new TypeError("a key's record has other fields than were asked for");
  const fieldOf = (column: TermsColumn): string | null => fields[TERMS_COLUMNS.indexOf(column)] ?? null;
  const textOf = (column: TermsColumn): string => {
    const value = fieldOf(column);
    if (value === null) throw new TypeError(`a key's record has no ${column}`);
    return value;
  };
  const libraryIds = fieldOf("library_ids");
  const allowedModels = fieldOf("to_json(allowed_models)");
  const [requestsPerMinute, burst] = [fieldOf("requests_per_minute"), fieldOf("burst")];
  const concurrent = fieldOf("concurrent");
  return {
    teamId: textOf("team_id"),
    namespace: textOf("namespace"),
    teamHoldsNamespace: textOf("team_holds_namespace") === "t",
    state: textOf("state") as KeyState,
    versionState: textOf("version_state") as VersionState,
    // A scope of a later build grants nothing here.
    scopes: scopeSet(textOf("scopes").split(" ").filter(isScope)),
    boundGatewayId: fieldOf("bound_gateway_id"),
    libraryIds: libraryIds === null ? null : libraryIds.split(" ").filter((id) => id !== ""),
    mcpDefaultLibraryId: fieldOf("mcp_default_library_id"),
    teamDefaultLibraryId: fieldOf("team_default_library_id"),
    allowedModels: allowedModels === null ? null : (JSON.parse(allowedModels) as string[]),
    rateLimit:
      requestsPerMinute === null || burst === null
        ? null
        : { requestsPerMinute: Number(requestsPerMinute), burst: Number(burst) },
    concurrent: concurrent === null ? null : Number(concurrent),
  };
}

/** A field of a record: nothing for null; else as it is, or in quotes, in which a quote or a backslash is doubled. */
const FIELD = /[(,](?:"((?:[^"\\]|""|\\\\)*)"|([^",]*))/gy;

/** The values of a record, by the database's text of it (PostgreSQL's manual, "Composite Type Input and Output Syntax"). */
function fieldsOf(record: string): (string | null)[] {
  return Array.from(record.slice(0, -1).matchAll(FIELD), ([, quoted, plain]) =>
    quoted === undefined ? plain || null : quoted.replace(/(["\\])\1/g, "$1"),
  );
}
