import { sql } from "kysely";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import type { Db } from "../database/change.ts";
import { DATABASE_NOW, toDate, toMs } from "../database/times.ts";

/**
 * Last outcomes of calls to an upstream. Times are milliseconds since the epoch, by the database's clock as far as the
 * server that made the calls knows it.
 */
export type UpstreamOutcome = {
  /** Time and status of the last answer. */
  readonly answeredAt: number | null;
  readonly status: number | null;
  /** Time of the last call without an answer, and the failure that was reported to its caller. */
  readonly failedAt: number | null;
  readonly failure: string | null;
  /** Times at which the upstream last accepted the gateway's own credential, by a success, and last refused it. */
  readonly acceptedAt: number | null;
  readonly refusedAt: number | null;
};

/** Outcome with its gateway and upstream. */
export type NamedOutcome = UpstreamOutcome & { readonly gatewayId: string; readonly upstream: string };

/** Records outcomes, each of another upstream, if newer than those known. Ignores upstreams that do not exist. */
export async function recordOutcomes(db: Db, outcomes: readonly NamedOutcome[]): Promise<void> {
  const column = <T>(of: (outcome: NamedOutcome) => T): T[] => outcomes.map(of);
  await sql`
    insert into upstream_outcomes as o
      (gateway_id, upstream, answered_at, status, failed_at, failure, accepted_at, refused_at)
    select u.gateway_id, u.name, n.answered_at, n.status, n.failed_at, n.failure, n.accepted_at, n.refused_at
    from unnest(${column(({ gatewayId }) => gatewayId)}::text[], ${column(({ upstream }) => upstream)}::text[],
      ${column(({ answeredAt }) => toDate(answeredAt))}::timestamptz[], ${column(({ status }) => status)}::integer[],
      ${column(({ failedAt }) => toDate(failedAt))}::timestamptz[], ${column(({ failure }) => failure)}::text[],
      ${column(({ acceptedAt }) => toDate(acceptedAt))}::timestamptz[],
      ${column(({ refusedAt }) => toDate(refusedAt))}::timestamptz[])
      as n (gateway_id, upstream, answered_at, status, failed_at, failure, accepted_at, refused_at)
    join gateway_upstreams u on u.gateway_id = n.gateway_id and u.name = n.upstream
    order by u.gateway_id, u.name
    on conflict (gateway_id, upstream) do update set
      answered_at = greatest(o.answered_at, excluded.answered_at),
      status = case when excluded.answered_at < o.answered_at or excluded.answered_at is null then o.status
        else excluded.status end,
      failed_at = greatest(o.failed_at, excluded.failed_at),
      failure = case when excluded.failed_at < o.failed_at or excluded.failed_at is null then o.failure
        else excluded.failure end,
      accepted_at = greatest(o.accepted_at, excluded.accepted_at),
      refused_at = greatest(o.refused_at, excluded.refused_at)`.execute(db);
}

/**
 * SQL condition that an upstream refuses its present credential, or asks for one although it is declared without: it
 * has refused since that was stored, and either no call has succeeded since, or a refusal is less than a minute old. So
 * an upstream that refuses only some calls does not change state each time. Null for an upstream that never refused: as
 * a condition, it excludes these before anything is joined.
 */
const REFUSES = sql<
  boolean | null
>`(u.credential is not null or not u.takes_credential) and o.refused_at > coalesce(u.credential_at, '-infinity')
  and (o.refused_at > coalesce(o.accepted_at, '-infinity') or o.refused_at > ${DATABASE_NOW} - interval '1 minute')`;

/** Known state of an upstream, besides its declaration. */
export type UpstreamState = NamedOutcome & {
  /** Time since which it has its present credential; null if it has none, or the time is not known. */
  readonly credentialAt: number | null;
  /** True if it refuses its present credential, or asks for one although it is declared without. */
  readonly refusesCredential: boolean;
};

/** Reads the state of every upstream of these gateways. */
export async function upstreamStates(db: Db, gatewayIds: readonly string[]): Promise<UpstreamState[]> {
  const { rows } = await sql<{
    gatewayId: string;
    upstream: string;
    credentialAt: Date | null;
    answeredAt: Date | null;
    status: number | null;
    failedAt: Date | null;
    failure: string | null;
    acceptedAt: Date | null;
    refusedAt: Date | null;
    refusesCredential: boolean;
  }>`
    select u.gateway_id as "gatewayId", u.name as upstream,
      case when u.credential is not null then u.credential_at end as "credentialAt",
      o.answered_at as "answeredAt", o.status, o.failed_at as "failedAt", o.failure,
      o.accepted_at as "acceptedAt", o.refused_at as "refusedAt",
      coalesce(${REFUSES}, false) as "refusesCredential"
    from gateway_upstreams u left join upstream_outcomes o on o.gateway_id = u.gateway_id and o.upstream = u.name
    where u.gateway_id = any(${gatewayIds}::text[]) order by u.gateway_id, u.position`.execute(db);
  return rows.map(({ credentialAt, answeredAt, failedAt, acceptedAt, refusedAt, ...row }) => ({
    ...row,
    credentialAt: toMs(credentialAt),
    answeredAt: toMs(answeredAt),
    failedAt: toMs(failedAt),
    acceptedAt: toMs(acceptedAt),
    refusedAt: toMs(refusedAt),
  }));
}

/** Upstream of a gateway in service that refuses its present credential, or asks for one. */
export type RefusedCredential = {
  readonly cluster: string;
  readonly namespace: string;
  /** Name of the gateway. */
  readonly name: string;
  readonly gatewayId: string;
  readonly upstream: string;
  readonly dialect: string;
  /** False if it is declared without a credential. */
  readonly takesCredential: boolean;
};

/** Lists the upstreams without their credential of gateways made by hand: it was given up with its encryption key. */
export async function lostCredentials(db: Db): Promise<RefusedCredential[]> {
  const { rows } = await sql<RefusedCredential>`
    select g.cluster, g.namespace, g.name, g.id as "gatewayId", u.name as upstream, u.dialect,
      u.takes_credential as "takesCredential"
    from gateway_upstreams u join gateways g on g.id = u.gateway_id
    where g.state = 'active' and g.cluster = ${API_CLUSTER} and u.takes_credential and u.credential is null
    order by g.name, g.id, u.position`.execute(db);
  return rows;
}

/**
 * Lists all refused credentials, by gateway.
 *
 * @param cluster cluster of the declarations; all if left out
 */
export async function refusedCredentials(db: Db, cluster?: string): Promise<RefusedCredential[]> {
  const inCluster = cluster === undefined ? sql`` : sql`and g.cluster = ${cluster}`;
  const { rows } = await sql<RefusedCredential>`
    select g.cluster, g.namespace, g.name, g.id as "gatewayId", u.name as upstream, u.dialect,
      u.takes_credential or u.credential is not null as "takesCredential"
    from upstream_outcomes o join gateway_upstreams u on u.gateway_id = o.gateway_id and u.name = o.upstream
    join gateways g on g.id = u.gateway_id
    where g.state = 'active' and ${REFUSES} ${inCluster}
    order by g.namespace, g.name, g.id, u.position`.execute(db);
  return rows;
}

/** Upstream of a gateway in service whose last call got no answer. Times are milliseconds since the epoch. */
export type SilentUpstream = {
  readonly gatewayId: string;
  readonly namespace: string;
  /** Name of the gateway. */
  readonly name: string;
  readonly upstream: string;
  readonly failedAt: number;
  readonly failure: string;
  /** Time of its last answer; null if it never answered. */
  readonly answeredAt: number | null;
};

/** Lists the upstreams whose last call got no answer, the latest first, if they were called within the last hour. */
export async function silentUpstreams(db: Db, limit: number): Promise<SilentUpstream[]> {
  const { rows } = await sql<
    Omit<SilentUpstream, "failedAt" | "answeredAt"> & { failedAt: Date; answeredAt: Date | null }
  >`
    select g.id as "gatewayId", g.namespace, g.name, o.upstream, o.failed_at as "failedAt", o.failure,
      o.answered_at as "answeredAt"
    from upstream_outcomes o join gateways g on g.id = o.gateway_id
    where g.state = 'active' and o.failed_at > coalesce(o.answered_at, '-infinity')
      and o.failed_at > ${DATABASE_NOW} - interval '1 hour'
    order by o.failed_at desc, g.id, o.upstream limit ${limit}`.execute(db);
  return rows.map(({ failedAt, answeredAt, ...row }) => ({
    ...row,
    failedAt: failedAt.getTime(),
    answeredAt: toMs(answeredAt),
  }));
}

/** Number of keys that are read of each gateway. */
const MAX_LOOKED_AT = 5_000;

/** Number of living keys that are bound to a gateway; `isMore` if it has too many keys to count them all. */
export type BoundKeys = { readonly keys: number; readonly isMore: boolean };

export async function countBoundKeys(db: Db, gatewayIds: readonly string[]): Promise<Map<string, BoundKeys>> {
  const { rows } = await sql<{ id: string; keys: number; looked: number }>`
    select g.id, k.keys, k.looked from unnest(${gatewayIds}::text[]) g (id) cross join lateral (
      select count(*) filter (where state in ('active', 'suspended'))::integer as keys, count(*)::integer as looked
      from (select state from keys where gateway_id = g.id limit ${MAX_LOOKED_AT}) looked_at
    ) k`.execute(db);
  return new Map(rows.map(({ id, keys, looked }) => [id, { keys, isMore: looked === MAX_LOOKED_AT }]));
}
