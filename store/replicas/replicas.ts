import { type RawBuilder, sql } from "kysely";
import { LEASE_MS } from "../../domain/protocol.ts";
import type { Db } from "../database/change.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { Store } from "../database/store.ts";

/** Change of the feed, as a process knows it. */
export type FeedPosition = {
  readonly seq: number;
  /** Id of the change; null if the feed had no change of that number: before the first change. */
  readonly id: string | null;
};

/** Properties of a replica that other processes need. */
export type ReplicaTraits = {
  /** Milliseconds that it may serve without proof that its view is current. */
  readonly leaseMs?: number;
  /** Keys with which it decrypts credentials: other processes get only the fingerprints. */
  readonly keyring?: readonly { readonly fingerprint: string }[];
  /** True if it accepts a bootstrap token although people can sign in by an issuer. */
  readonly hasSpareToken?: boolean;
};

/**
 * Registers a replica: from now on a change waits for it. Call it before the replica listens and reads (architecture
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

/** Lists the replicas that accept a bootstrap token although people can sign in by an issuer. */
export async function replicasWithSpareToken(db: Db): Promise<string[]> {
  const rows = await db.selectFrom("replicas").select("id").where("bootstrap_beside_issuer", "=", true).execute();
  return rows.map(({ id }) => id);
}

/** Maximum number of replicas that a heartbeat counts. */
const MOST_COUNTED = 1_000;

export type Heartbeat = {
  /** False if the replica was taken for dead: it has to register again and reload before it serves. */
  readonly registered: boolean;
  readonly head: number;
  /** Id of the last applied change; null if it is pruned or was never made here: the database may be rolled back. */
  readonly idOfLastSeq: string | null;
  /** Milliseconds since the epoch. */
  readonly databaseNow: number;
  /** Fill level of the database's notification queue, from 0 to 1. */
  readonly notificationQueue: number;
  /** Previous replica in the ring of ids; null if there is no other replica. */
  readonly neighbour: Neighbour | null;
  /** Number of replicas, counted up to a thousand. */
  readonly replicas: number;
};

export type Neighbour = {
  /** Text that changes with each sign of life. */
  readonly sign: string;
  readonly leaseMs: number;
};

/**
 * Records a replica's sign of life, and reads what it needs to keep serving, in one statement. The lease that it renews
 * counts from before the call.
 *
 * @param last last change that is applied: no request is decided by anything older. The call acknowledges nothing if
 *   that change is another now, or missing: the database was rolled back (threats c26)
 * @param ownTime the replica's own clock, in milliseconds since the epoch: only for comparison with the database's
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

/** Returns SQL for one row, which the index finds however many rows there are. */
function lastWhere(which: RawBuilder<unknown>): RawBuilder<Neighbour> {
  return sql`(select json_build_object('sign', id || ' ' || seen_at, 'leaseMs', lease_ms)
    from replicas where ${which} order by id desc limit 1)`;
}

/** Deregisters a replica at its end, so that no change waits for it. */
export async function deregisterReplica(store: Store, id: string): Promise<void> {
  await store.db.deleteFrom("replicas").where("id", "=", id).execute();
}

/** Deregisters every replica: for a process that has the database to itself, and so knows that none is left. */
export async function removeAllReplicas(store: Store): Promise<void> {
  await remove(store, sql`true`);
}

/** Deregisters replicas that have given no sign of life since they were read. */
export async function removeReplicas(store: Store, replicas: readonly ReplicaRow[]): Promise<void> {
  await remove(
    store,
    sql`(id, seen_at) in (select * from unnest(${replicas.map(({ id }) => id)}::text[],
      ${replicas.map(({ seenAt }) => seenAt)}::timestamptz[]))`,
  );
}

/**
 * Removes replicas. A removed replica may not have written all uses that it served, so this records until when uses may
 * be missing. A replica that never reported its time with a sign of life had no lease and served no request.
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

/** Row of a replica. */
export type ReplicaRow = {
  readonly id: string;
  /** Seq up to which everything is applied. */
  readonly ackedSeq: number;
  /** Text that changes with each sign of life. */
  readonly seenAt: string;
  /** Milliseconds that it may serve without proof that its view is current. */
  readonly leaseMs: number;
};

export type Replicas = {
  /** Identity of the database that answered: another text after a restart, a failover, or a restored backup. */
  readonly incarnation: string;
  readonly head: FeedPosition;
  /** Present id of the change `seq`; null if the feed has no such change. */
  readonly idOfSeq: string | null;
  readonly replicas: readonly ReplicaRow[];
};

/** Reads the positions of the feed and of the replicas, as of one moment. */
export async function readReplicas(store: Store, seq: number): Promise<Replicas> {
  type Row = Pick<Replicas, "incarnation" | "idOfSeq" | "replicas"> & { head: number; headId: string | null };
  const { rows } = await sql<Row>`${preparedStatement}
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

/** Access to the table of replicas. */
export type ReplicaRegister = {
  read(seq: number): Promise<Replicas>;
  remove(dead: readonly ReplicaRow[]): Promise<void>;
};
