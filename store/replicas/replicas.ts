import { type RawBuilder, sql } from "kysely";
import { LEASE_MS } from "../../domain/protocol.ts";
import type { Db } from "../database/change.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { Store } from "../database/store.ts";

/** A change of the feed, as a process knows it. */
export type FeedPosition = {
  readonly seq: number;
  /** Null where the feed had none of that number: before the first one. */
  readonly id: string | null;
};

/** What others have to know of a replica. */
export type ReplicaTraits = {
  /** How long it may serve without proof that its view is current. */
  readonly leaseMs?: number;
  /** What it opens credentials with: others learn the fingerprints alone. */
  readonly keyring?: readonly { readonly fingerprint: string }[];
  /** Whether it takes a bootstrap token although an issuer lets people in. */
  readonly hasSpareToken?: boolean;
};

/**
 * Makes a replica known: from here on a change waits for it. To be called before it listens and reads (architecture
 * §3).
 */
export async function registerReplica(
  store: Store,
  id: string,
  { leaseMs = LEASE_MS, keyring = [], hasSpareToken = false }: ReplicaTraits = {},
): Promise<void> {
  await sql`
    insert into replicas (id, acked_seq, encryption_keys, bootstrap_beside_issuer, lease_ms)
    values (${id}, 0, ${keyring.map(({ fingerprint }) => fingerprint)}::text[], ${hasSpareToken}, ${leaseMs})
    on conflict (id) do update set acked_seq = 0, seen_at = clock_timestamp()`.execute(store.db);
}

/** The replicas that take a bootstrap token although an issuer lets people in. */
export async function replicasWithSpareToken(db: Db): Promise<string[]> {
  const rows = await db.selectFrom("replicas").select("id").where("bootstrap_beside_issuer", "=", true).execute();
  return rows.map(({ id }) => id);
}

/** Replicas that a heartbeat counts at most. */
const MOST_COUNTED = 1_000;

export type Heartbeat = {
  /** False when the replica was taken for dead: it has to register again and reload before it serves. */
  readonly registered: boolean;
  readonly head: number;
  /** Null when that change is pruned or was never made here: the database may have been rolled back. */
  readonly idOfLastSeq: string | null;
  /** Milliseconds since the epoch. */
  readonly databaseNow: number;
  /** How full the database's queue of notifications is, from 0 to 1. */
  readonly notificationQueue: number;
  /** The replica before this one, by their names in a ring; null where there is no other. */
  readonly neighbour: Neighbour | null;
  /** How many replicas there are; no more than a thousand are counted. */
  readonly replicas: number;
};

export type Neighbour = {
  /** Another at each sign of life. */
  readonly sign: string;
  readonly leaseMs: number;
};

/**
 * A replica's sign of life, and what it must know to serve on, in one statement. The lease that it renews counts from
 * before the call.
 *
 * @param last everything up to it is applied: no request is decided by anything older. It acknowledges nothing where
 *   that change is another by now, or not there: the database was rolled back (threats c26)
 * @param ownTime the time by its own clock, in milliseconds since the epoch: only to be compared with the database's
 */
export async function heartbeat(
  store: Store,
  id: string,
  last: FeedPosition,
  ownTime: number | null = null,
): Promise<Heartbeat> {
  const { rows } = await sql<Heartbeat>`${preparedStatement}
    with known as (
      select (select id from changes where seq = ${last.seq}) as id
    ), beat as (
      update replicas set seen_at = clock_timestamp(), own_time = to_timestamp(${ownTime}::float8 / 1000),
        acked_seq = case when known.id is not distinct from ${last.id}::uuid then ${last.seq}::bigint else 0 end
      from known where replicas.id = ${id} returning replicas.id
    )
    select exists (select from beat) as registered, head, known.id as "idOfLastSeq",
      (extract(epoch from clock_timestamp()) * 1000)::float8 as "databaseNow",
      pg_notification_queue_usage() as "notificationQueue",
      coalesce(${lastWhere(sql`id < ${id}`)}, ${lastWhere(sql`id > ${id}`)}) as neighbour,
      (select count(*)::float8 from (select from replicas limit ${MOST_COUNTED}) as counted) as replicas
    from feed, known`.execute(store.db);
  const [row] = rows;
  if (row === undefined) throw new Error("the table feed has no row: restore it, or the database, from a backup");
  return row;
}

/** One row by the index, however many there are. */
function lastWhere(which: RawBuilder<unknown>): RawBuilder<Neighbour> {
  return sql`(select json_build_object('sign', id || ' ' || seen_at, 'leaseMs', lease_ms)
    from replicas where ${which} order by id desc limit 1)`;
}

/** Takes a replica out: at its end, so that nothing waits for it. */
export async function deregisterReplica(store: Store, id: string): Promise<void> {
  await store.db.deleteFrom("replicas").where("id", "=", id).execute();
}

/** Takes out every replica: for a process that has the database to itself, and so knows that none is left. */
export async function removeAllReplicas(store: Store): Promise<void> {
  await remove(store, sql`true`);
}

/** Takes out replicas that gave no sign of life since. */
export async function removeReplicas(store: Store, replicas: readonly ReplicaRow[]): Promise<void> {
  await remove(
    store,
    sql`(id, seen_at) in (select * from unnest(${replicas.map(({ id }) => id)}::text[],
      ${replicas.map(({ seenAt }) => seenAt)}::timestamptz[]))`,
  );
}

/**
 * A removed replica may not have written all uses that it served: records up to when uses may be missing. One that never
 * had a sign of life of its own, by which it states its time, had no lease and served none.
 */
async function remove(store: Store, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    with dead as (
      delete from replicas where ${which} returning own_time is not null as may_have_served
    )
    update usage_lost set until = clock_timestamp() where exists (select from dead where may_have_served)`.execute(
    store.db,
  );
}

/** What a replica's row says. */
export type ReplicaRow = {
  readonly id: string;
  /** Everything up to it is applied. */
  readonly ackedSeq: number;
  /** Another at each sign of life. */
  readonly seenAt: string;
  /** How long it may serve without proof that its view is current. */
  readonly leaseMs: number;
};

export type Replicas = {
  /** Which database answered: another text after a restart, a failover, or where a backup was put in its place. */
  readonly incarnation: string;
  readonly head: FeedPosition;
  /** The id that the change `seq` has now; null where the feed has none. */
  readonly idOfSeq: string | null;
  readonly replicas: readonly ReplicaRow[];
};

/** Reads how far the feed and the replicas have come, as of one moment. */
export async function readReplicas(store: Store, seq: number): Promise<Replicas> {
  type Row = Pick<Replicas, "incarnation" | "idOfSeq" | "replicas"> & { head: number; headId: string | null };
  const { rows } = await sql<Row>`
    select extract(epoch from pg_postmaster_start_time()) || ' ' || pg_relation_filepath('replicas') as incarnation,
      head, (select id from changes where seq = head) as "headId",
      (select id from changes where seq = ${seq}) as "idOfSeq",
      (select coalesce(json_agg(json_build_object('id', id, 'ackedSeq', acked_seq, 'seenAt', seen_at,
        'leaseMs', lease_ms)), '[]') from replicas) as replicas
    from feed`.execute(store.db);
  const [row] = rows;
  if (row === undefined) throw new Error("the table feed has no row: restore it, or the database, from a backup");
  const { incarnation, head, headId, idOfSeq, replicas } = row;
  return { incarnation, head: { seq: head, id: headId }, idOfSeq, replicas };
}

export function replicaRegister(store: Store): ReplicaRegister {
  return { read: (seq) => readReplicas(store, seq), remove: (dead) => removeReplicas(store, dead) };
}

/** What is asked of the table of replicas. */
export type ReplicaRegister = {
  read(seq: number): Promise<Replicas>;
  remove(dead: readonly ReplicaRow[]): Promise<void>;
};
