import { sql } from "kysely";
import type { KeyAttributes } from "../../../domain/access/key-record.ts";
import type { Tx } from "../../database/change.ts";
import type { Store } from "../../database/store.ts";
import {
  attributesReader,
  ENDED_VERSION_STATES,
  type IndexedKey,
  RECORD_COLUMNS,
  type RecordRow,
  recordReader,
} from "./key-records.ts";

/** Called with a page of keys, and the number of keys on all pages. */
type Receive = (keys: readonly IndexedKey[], total: number) => void;

/** Number of rows that are read at a time: other event-loop iterations run in between. */
const PAGE = 2_000;
/** Memory that the database may use to join a snapshot's tables, so that it need not write them to disk. */
const JOIN_MEMORY = "64MB";
/** Time for which a snapshot's transaction may be idle while another connection reads by it: the longest read. */
const COPY_LIMIT = "60s";

/** Ended states as one text, which both a statement and a COPY can contain. */
const ENDED = ENDED_VERSION_STATES.map((state) => `'${state}'`).join(", ");
const LIVING_RECORDS = `select ${RECORD_COLUMNS} from key_records where version_state not in (${ENDED})`;

/** Reads every version that has not ended, and hands over page by page, so that memory holds one page at most. */
export async function readLivingRecords(store: Store, tx: Tx, receive: Receive): Promise<void> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from key_versions where state not in (${sql.raw(ENDED)})`.execute(tx);
  const total = rows[0]?.total ?? 0;
  await (store.copyRows === undefined ? byCursor(tx, total, receive) : byCopy(store.copyRows, tx, total, receive));
}

async function byCopy(copyRows: NonNullable<Store["copyRows"]>, tx: Tx, total: number, receive: Receive) {
  const { rows } = await sql<{ snapshot: string }>`select pg_export_snapshot() as snapshot,
    set_config('idle_in_transaction_session_timeout', ${COPY_LIMIT}, true)`.execute(tx);
  const [{ snapshot } = { snapshot: "" }] = rows;
  const settings = {
    work_mem: JOIN_MEMORY,
    // The planner thinks that to hand a row from one process to another costs ten times what a row of these does.
    parallel_tuple_cost: 0.01,
    // Compiling takes longer than what it saves of expressions as simple as these.
    jit: "off",
  };
  const attributesOf = attributesReader();
  let page: IndexedKey[] = [];
  await copyRows({ snapshot, select: LIVING_RECORDS, settings }, (row) => {
    page.push(recordOf(row, attributesOf));
    if (page.length < PAGE) return;
    receive(page, total);
    page = [];
  });
  receive(page, total);
}

async function byCursor(tx: Tx, total: number, receive: Receive): Promise<void> {
  // A planner that expects a few rows of a cursor to be wanted would look up each key's joins one by one.
  await sql`set local cursor_tuple_fraction = 1`.execute(tx);
  await sql`set local work_mem = ${sql.lit(JOIN_MEMORY)}`.execute(tx);
  await sql`declare records no scroll cursor for ${sql.raw(LIVING_RECORDS)}`.execute(tx);
  const read = recordReader();
  for (;;) {
    const { rows } = await sql<RecordRow>`fetch forward ${sql.lit(PAGE)} from records`.execute(tx);
    receive(rows.map(read), total);
    if (rows.length < PAGE) break;
  }
  await sql`close records`.execute(tx);
}

/** Parses a row of {@link LIVING_RECORDS} in COPY's binary form. */
function recordOf(row: Buffer, attributesOf: (text: string) => KeyAttributes): IndexedKey {
  let end = 2;
  /** Moves to the end of the next field, and returns the position at which it begins. For null, both are the same. */
  const next = (): number => {
    const begin = end + 4;
    end = begin + Math.max(row.readInt32BE(end), 0);
    return begin;
  };
  const keyId = row.toString("utf8", next(), end);
  const version = row.readInt32BE(next());
  const digest = row.toString("latin1", next(), end);
  const importedFormat = row[next()] === 1;
  const expiry = next();
  const expiresAt = expiry === end ? Number.POSITIVE_INFINITY : row.readDoubleBE(expiry);
  const attributes = attributesOf(row.toString("utf8", next(), end));
  return { digest, keyId, version, expiresAt, importedFormat, attributes };
}
