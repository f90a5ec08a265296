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
export type RecordRow = TermsRow & {
  readonly key_id: string;
  readonly version: number;
  readonly digest: Uint8Array;
  readonly is_foreign: boolean;
  readonly expires_ms: number | null;
};

/** What many rows have in common. */
type TermsRow = {
  readonly team_id: string;
  readonly namespace: string;
  readonly team_holds_namespace: boolean;
  readonly state: string;
  readonly version_state: string;
  readonly scopes: string;
  readonly bound_gateway_id: string | null;
  readonly library_ids: string | null;
  readonly mcp_default_library_id: string | null;
  readonly team_default_library_id: string | null;
  readonly allowed_models: readonly string[] | null;
  readonly requests_per_minute: number | null;
  readonly burst: number | null;
};

/** The columns of a {@link RecordRow}. To join them to one text for each row would cost the database more than to send them. */
export const RECORD_COLUMNS = sql.raw(
  `key_id, version, digest, is_foreign, expires_ms, team_id, namespace, team_holds_namespace, state, version_state, scopes,
  bound_gateway_id, library_ids, mcp_default_library_id, team_default_library_id, allowed_models, requests_per_minute, burst`,
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

/** Makes what reads rows, and gives equal terms as one object. */
export function recordReader(): (row: RecordRow) => IndexedKey {
  const known = new Map<string, KeyTerms>();
  return (row) => {
    const text = textOf(row);
    let terms = known.get(text);
    if (terms === undefined) {
      terms = toTerms(row);
      known.set(text, terms);
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

/**
 * What a row has in common with others, as one text: rows with the same text have the same terms. No text of the database
 * has a NUL, and the last number says which were null, so that no two rows can be taken for one another.
 */
function textOf(row: TermsRow): string {
  const present = `${row.team_id}\0${row.namespace}\0${row.team_holds_namespace}\0${row.state}\0${row.version_state}\0${row.scopes}`;
  let nulls = 0;
  let rest = "";
  for (const value of [
    row.bound_gateway_id,
    row.library_ids,
    row.mcp_default_library_id,
    row.team_default_library_id,
    row.allowed_models === null ? null : JSON.stringify(row.allowed_models),
    row.requests_per_minute,
    row.burst,
  ]) {
    nulls <<= 1;
    if (value === null) nulls |= 1;
    else rest += `\0${value}`;
  }
  return `${present}${rest}\0${nulls}`;
}

/** Casts: a state of a later build is passed on as it is, so that the decision refuses it (threats c42). */
function toTerms(row: TermsRow): KeyTerms {
  return {
    teamId: row.team_id,
    namespace: row.namespace,
    teamHoldsNamespace: row.team_holds_namespace,
    state: row.state as KeyState,
    versionState: row.version_state as VersionState,
    // A scope of a later build grants nothing here.
    scopes: scopeSet(row.scopes.split(" ").filter(isScope)),
    boundGatewayId: row.bound_gateway_id,
    libraryIds: row.library_ids === null ? null : row.library_ids.split(" ").filter((id) => id !== ""),
    mcpDefaultLibraryId: row.mcp_default_library_id,
    teamDefaultLibraryId: row.team_default_library_id,
    allowedModels: row.allowed_models,
    rateLimit:
      row.requests_per_minute === null || row.burst === null
        ? null
        : { requestsPerMinute: row.requests_per_minute, burst: row.burst },
  };
}
