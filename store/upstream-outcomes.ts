import { sql } from "kysely";
import type { Db } from "./database/change.ts";
import { toDate, toMs } from "./database/times.ts";

/** How an upstream was last heard of. Times are milliseconds since the epoch, by the clock of whoever asked it. */
export type UpstreamOutcome = {
  /** When it last answered, and with which status. */
  readonly answeredAt: number | null;
  readonly status: number | null;
  /** When it last gave no answer, and why: as its caller was told. */
  readonly failedAt: number | null;
  readonly failure: string | null;
};

/** An outcome, and whose it is. */
export type NamedOutcome = UpstreamOutcome & { readonly gatewayId: string; readonly upstream: string };

/** Writes outcomes, each of another upstream, where they are newer than what is known. One of no upstream is left out. */
export async function recordOutcomes(db: Db, outcomes: readonly NamedOutcome[]): Promise<void> {
  const column = <T>(of: (outcome: NamedOutcome) => T): T[] => outcomes.map(of);
  await sql`
    insert into upstream_outcomes as o (gateway_id, upstream, answered_at, status, failed_at, failure)
    select u.gateway_id, u.name, n.answered_at, n.status, n.failed_at, n.failure
    from unnest(${column(({ gatewayId }) => gatewayId)}::text[], ${column(({ upstream }) => upstream)}::text[],
      ${column(({ answeredAt }) => toDate(answeredAt))}::timestamptz[], ${column(({ status }) => status)}::integer[],
      ${column(({ failedAt }) => toDate(failedAt))}::timestamptz[], ${column(({ failure }) => failure)}::text[])
      as n (gateway_id, upstream, answered_at, status, failed_at, failure)
    join gateway_upstreams u on u.gateway_id = n.gateway_id and u.name = n.upstream
    order by u.gateway_id, u.name
    on conflict (gateway_id, upstream) do update set
      answered_at = greatest(o.answered_at, excluded.answered_at),
      status = case when excluded.answered_at < o.answered_at or excluded.answered_at is null then o.status
        else excluded.status end,
      failed_at = greatest(o.failed_at, excluded.failed_at),
      failure = case when excluded.failed_at < o.failed_at or excluded.failed_at is null then o.failure
        else excluded.failure end`.execute(db);
}

/** What is known of an upstream besides how it is declared. */
export type UpstreamState = NamedOutcome & {
  /** Since when it has the credential that it has; null where it has none, or where that is not known. */
  readonly credentialAt: number | null;
};

/** Every upstream of these gateways. */
export async function upstreamStates(db: Db, gatewayIds: readonly string[]): Promise<UpstreamState[]> {
  const { rows } = await sql<{
    gatewayId: string;
    upstream: string;
    credentialAt: Date | null;
    answeredAt: Date | null;
    status: number | null;
    failedAt: Date | null;
    failure: string | null;
  }>`
    select u.gateway_id as "gatewayId", u.name as upstream,
      case when u.credential is not null then u.credential_at end as "credentialAt",
      o.answered_at as "answeredAt", o.status, o.failed_at as "failedAt", o.failure
    from gateway_upstreams u left join upstream_outcomes o on o.gateway_id = u.gateway_id and o.upstream = u.name
    where u.gateway_id = any(${gatewayIds}::text[]) order by u.gateway_id, u.position`.execute(db);
  return rows.map(({ credentialAt, answeredAt, failedAt, ...row }) => ({
    ...row,
    credentialAt: toMs(credentialAt),
    answeredAt: toMs(answeredAt),
    failedAt: toMs(failedAt),
  }));
}

/** Keys that are looked at of each gateway. */
const MAX_LOOKED_AT = 5_000;

/** How many living keys are bound to a gateway; where it has very many keys, that there may be more. */
export type BoundKeys = { readonly keys: number; readonly isMore: boolean };

export async function countBoundKeys(db: Db, gatewayIds: readonly string[]): Promise<Map<string, BoundKeys>> {
  const { rows } = await sql<{ id: string; keys: number; looked: number }>`
    select g.id, k.keys, k.looked from unnest(${gatewayIds}::text[]) g (id) cross join lateral (
      select count(*) filter (where state in ('active', 'suspended'))::integer as keys, count(*)::integer as looked
      from (select state from keys where gateway_id = g.id limit ${MAX_LOOKED_AT}) looked_at
    ) k`.execute(db);
  return new Map(rows.map(({ id, keys, looked }) => [id, { keys, isMore: looked === MAX_LOOKED_AT }]));
}
