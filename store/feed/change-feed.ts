import { sql } from "kysely";
import type { TeamRecord } from "../../domain/access/membership.ts";
import type { Db, Tx } from "../database/change.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { Store } from "../database/store.ts";
import { type GatewayRow, type SealedGateway, toSealedGateways } from "../gateways/gateways.ts";
import {
  ENDED_VERSION_STATES,
  type IndexedKey,
  RECORD_COLUMNS,
  type RecordRow,
  recordReader,
} from "../keys/rows/key-records.ts";
import { readLivingRecords } from "../keys/rows/living-records.ts";
import { readTeams } from "../teams/team-records.ts";

/** Channel for the hint that something changed. Only `changesAfter` says what changed, and in which order. */
export const CHANGES_CHANNEL = "keyplane_changes";

/**
 * Fails in a session in which nothing can be written, as a write would, so that its connection is given up. A snapshot
 * on a connection that still leads to an old primary would bring back what the new primary has ended (threats c92).
 */
const ASSERT_TAKES_WRITES = `do $$ begin
  if pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' then
    raise read_only_sql_transaction using message = 'the key index is not read where nothing can be written';
  end if;
end $$`;

type ChangeKind = "key" | "team" | "gateway" | "library";

export type FeedChange = {
  readonly seq: number;
  /** Random id: tells a change from another change of the same number, made after the database was rolled back. */
  readonly id: string;
  readonly kind: ChangeKind;
  readonly ref: string;
};

/** Snapshot without the keys, which are handed over page by page. */
export type Snapshot = {
  /** Seq up to which changes are in the snapshot. */
  readonly head: number;
  /** Id of that change; null if there has been none, or it is pruned. */
  readonly headId: string | null;
  readonly gateways: readonly SealedGateway[];
  readonly teams: readonly TeamRecord[];
};

/**
 * Reads everything that decisions need, as of one moment.
 *
 * @param receive called page by page with the versions that have not ended, and the number of versions on all pages.
 *   It may be called again after the caller has given up: what it fills is then not used
 */
export async function snapshot(
  store: Store,
  receive: (keys: readonly IndexedKey[], total: number) => void,
): Promise<Snapshot> {
  return atOneMoment(store, async (tx) => {
    if (store.engine === "postgres") await sql.raw(ASSERT_TAKES_WRITES).execute(tx);
    const { head, headId } = await readHead(tx);
    await readLivingRecords(store, tx, receive);
    return { head, headId, gateways: await readGateways(tx, null), teams: await readTeams(tx, null) };
  });
}

export type Changes = {
  readonly head: number;
  /** Id of the change with the seq that was given; null if it is pruned, or was never made here. */
  readonly idOfSeq: string | null;
  /** Changes in the order of their seq, without a gap: the first follows the seq that was given. */
  readonly changes: readonly FeedChange[];
  /** True if the changes that are asked for are pruned, or were never made here: take a new snapshot. */
  readonly gone: boolean;
  /** Present state of the keys that `changes` affect, including versions that ended in one of them. */
  readonly keys: readonly IndexedKey[];
  readonly gateways: readonly SealedGateway[];
  readonly teams: readonly TeamRecord[];
  /** Ids of affected objects that no longer exist. */
  readonly removed: {
    readonly keyIds: readonly string[];
    readonly gatewayIds: readonly string[];
    readonly teamIds: readonly string[];
  };
};

/**
 * Reads the changes after `seq`, and the present state of all that they affect. A changed team brings its keys and
 * gateways, a library the keys that name it, a gateway the keys that are bound to it. Nearly every change is to a key
 * alone and takes one statement, because a revocation waits for the answer.
 *
 * @param limit maximum number of changes; there may be more if the last is below `head`
 */
export async function changesAfter(store: Store, seq: number, limit: number): Promise<Changes> {
  const { transactions: _, ...read } = await readChanges(store.db, seq, limit);
  if (read.changes.every(({ kind }) => kind === "key")) return { ...read, gateways: [], teams: [] };
  return atOneMoment(store, async (tx) => readAffected(tx, await readChanges(tx, seq, limit)));
}

type KeyChanges = Pick<Changes, "head" | "idOfSeq" | "changes" | "gone" | "keys" | "removed"> & {
  /** Transactions that made the changes. */
  readonly transactions: readonly string[];
};

/** Reads the changes after `seq`, and the keys that they affect. */
async function readChanges(db: Db, seq: number, limit: number): Promise<KeyChanges> {
  type About = Pick<KeyChanges, "head" | "idOfSeq" | "changes" | "transactions"> & {
    readonly erased: readonly string[];
  };
  type Row = (About & { key_id: null }) | (RecordRow & { head: null });
  const { rows } = await sql<Row>`${preparedStatement}
    with made as materialized (
      select seq, id, tx, kind, ref from changes where seq > ${seq} order by seq limit ${sql.lit(limit)}
    ), touched as materialized (
      select array(select ref from made where kind = 'key') as keys, array(select tx from made) as transactions
    ), about as (
      select head, (select id from changes where seq = ${seq}) as "idOfSeq", transactions::text[] as transactions,
        (select coalesce(json_agg(json_build_object('seq', seq, 'id', id, 'kind', kind, 'ref', ref) order by seq), '[]')
          from made) as changes,
        array(select ref from made where kind = 'key' and (select k.id from keys k where k.id = ref) is null) as erased
      from feed, touched
    ), records as (
      select ${sql.raw(RECORD_COLUMNS)} from key_records where key_id = any((select keys from touched)::text[])
        and (version_state <> all(${ENDED_VERSION_STATES}::text[])
          or changed_tx = any((select transactions from touched)::uuid[]))
    )
    select head, "idOfSeq", changes, transactions, erased, records.* from about full join records on false`.execute(db);
  const about = rows.find((row) => row.head !== null);
  if (about === undefined) throw new Error("the table feed has no row: restore it, or the database, from a backup");
  const { head, idOfSeq, changes, transactions, erased } = about;
  const none = { gatewayIds: [], teamIds: [] };
  if (head < seq || (head > seq && changes[0]?.seq !== seq + 1)) {
    return { head, idOfSeq, changes: [], gone: true, keys: [], transactions: [], removed: { keyIds: [], ...none } };
  }
  const keys = rows.filter((row) => row.head === null).map(recordReader());
  return { head, idOfSeq, changes, gone: false, keys, transactions, removed: { keyIds: erased, ...none } };
}

/** Adds what changes of teams, gateways and libraries affect. */
async function readAffected(tx: Tx, { transactions, ...read }: KeyChanges): Promise<Changes> {
  const of = (kind: ChangeKind) => [...new Set(read.changes.filter((row) => row.kind === kind).map(({ ref }) => ref))];
  const [teamIds, libraryIds] = [of("team"), of("library")];
  const gatewayIds = await affectedGateways(tx, of("gateway"), teamIds);
  const keyIds = missing(await affectedKeys(tx, { gatewayIds, libraryIds, teamIds }), of("key"));
  const gateways = await readGateways(tx, gatewayIds);
  const teams = await readTeams(tx, await affectedTeams(tx, teamIds, libraryIds));
  return {
    ...read,
    keys: [...read.keys, ...(await readKeysOf(tx, keyIds, transactions))],
    gateways,
    teams,
    removed: {
      keyIds: read.removed.keyIds,
      gatewayIds: missing(
        gatewayIds,
        gateways.map(({ gatewayId }) => gatewayId),
      ),
      teamIds: missing(
        teamIds,
        teams.map(({ teamId }) => teamId),
      ),
    },
  };
}

/** Runs all queries of a body on one database snapshot. On PGlite a transaction is alone anyway. */
function atOneMoment<T>(store: Store, body: (tx: Tx) => Promise<T>): Promise<T> {
  return store.db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(body);
}

async function readHead(tx: Tx): Promise<{ head: number; headId: string | null }> {
  const { rows } = await sql<{ head: number; headId: string | null }>`
    select head, (select id from changes where seq = head) as "headId" from feed`.execute(tx);
  return rows[0] ?? { head: 0, headId: null };
}

/** Finds the gateways that changed, and those of changed teams: their namespace may have come or gone. */
async function affectedGateways(tx: Tx, gatewayIds: readonly string[], teamIds: readonly string[]): Promise<string[]> {
  if (teamIds.length === 0) return [...gatewayIds];
  const { rows } = await sql<{ id: string }>`
    select unnest(${gatewayIds}::text[]) as id
    union select id from gateways where team_id = any(${teamIds}::text[])`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Finds the teams that changed, and those whose policy names a changed library, or may name it for a member. */
async function affectedTeams(tx: Tx, teamIds: readonly string[], libraryIds: readonly string[]): Promise<string[]> {
  if (libraryIds.length === 0) return [...teamIds];
  const { rows } = await sql<{ id: string }>`
    select unnest(${teamIds}::text[]) as id
    union select t.id from libraries l
      join teams t on t.id = l.team_id and t.default_library_namespace = l.namespace and t.default_library_name = l.name
      where l.id = any(${libraryIds}::text[])
    union select m.team_id from libraries l
      join team_members m on m.team_id = l.team_id and m.library_refs is not null
      where l.id = any(${libraryIds}::text[])`.execute(tx);
  return rows.map(({ id }) => id);
}

async function affectedKeys(
  tx: Tx,
  touched: {
    readonly gatewayIds: readonly string[];
    readonly libraryIds: readonly string[];
    readonly teamIds: readonly string[];
  },
): Promise<string[]> {
  const { gatewayIds, libraryIds, teamIds } = touched;
  const { rows } = await sql<{ id: string }>`${preparedStatement}
    select id from keys where team_id = any(${teamIds}::text[])
    union select id from keys where gateway_id = any(${gatewayIds}::text[])
    union select key_id from key_libraries where library_id = any(${libraryIds}::text[])
    union select k.id from libraries l
      join teams t on t.id = l.team_id and t.default_library_namespace = l.namespace and t.default_library_name = l.name
      join keys k on k.team_id = t.id
      where l.id = any(${libraryIds}::text[])`.execute(tx);
  return rows.map(({ id }) => id);
}

async function readKeysOf(tx: Tx, keyIds: readonly string[], transactions: readonly string[]): Promise<IndexedKey[]> {
  if (keyIds.length === 0) return [];
  const { rows } = await sql<RecordRow>`
    select ${sql.raw(RECORD_COLUMNS)} from key_records where key_id = any(${keyIds}::text[])
      and (version_state <> all(${ENDED_VERSION_STATES}::text[]) or changed_tx = any(${transactions}::text[]::uuid[]))`.execute(
    tx,
  );
  return rows.map(recordReader());
}

async function readGateways(tx: Tx, gatewayIds: readonly string[] | null): Promise<SealedGateway[]> {
  if (gatewayIds?.length === 0) return [];
  const { rows } = await sql<GatewayRow>`
    select g.id, g.public_id, g.team_id, g.routes_only, g.operations,
      g.namespace = '' or coalesce(n.team_id = g.team_id, false) as team_holds_namespace,
      g.routes, u.name as upstream, u.dialect, u.base_url, u.credential, u.takes_credential
    from gateways g
    left join team_namespaces n on n.cluster = g.cluster and n.namespace = g.namespace
    left join gateway_upstreams u on u.gateway_id = g.id
    where g.state = 'active' and (${gatewayIds}::text[] is null or g.id = any(${gatewayIds}::text[]))
    order by g.id, u.position`.execute(tx);
  return toSealedGateways(rows);
}

function missing(wanted: readonly string[], present: readonly string[]): string[] {
  const there = new Set(present);
  return wanted.filter((id) => !there.has(id));
}
