import { type RawBuilder, sql } from "kysely";
import type { RequestScope } from "../../domain/access/request-scope.ts";
import { DAY_MS } from "../../domain/duration.ts";
import type { AnswersUsed, Peak } from "../../domain/usage/advice/key-use.ts";
import { KINDS_OF_TOKENS } from "../../domain/usage/tokens.ts";
import type { Db } from "../database/change.ts";
import { LOST_USES_UNTIL } from "../keys/uses/lost-uses.ts";
import { asTimestamp, horizonsOf } from "./counted-parts.ts";
import { beginOf, HOUR_STEP, type Measure, REQUESTS_MEASURE, TOKENS_MEASURE } from "./usage-tables.ts";

/** Milliseconds for which all counts by five minutes exist: those of the eighth day are being deleted. */
const RECENT_MS = 7 * DAY_MS;
/** Sum of tokens of all kinds. */
const TOKENS = sql.join(
  KINDS_OF_TOKENS.map((kind) => sql.ref(kind)),
  sql` + `,
);
/** Version of the schema that began to sum up by hour. */
const HOURS_VERSION = 39;

/** Range of whole hours within the last 39 days: `from` inclusive, `to` exclusive, in milliseconds since the epoch. */
type Span = { readonly from: number; readonly to: number };

/** Reads the requests with a key by the scope that let them through, within whole hours. */
export async function requestsByScope(db: Db, keyId: string, span: Span): Promise<Map<RequestScope, number>> {
  const { rows } = await sql<{ scope: RequestScope; count: number }>`
    ${countedBetween(REQUESTS_MEASURE, keyId, span)}
    select scope, sum(count)::float8 as count from counted group by scope`.execute(db);
  return new Map(rows.map(({ scope, count }) => [scope, count]));
}

/** Reads the answers to a key by gateway, route and model, and the number of those whose tokens are not all known. */
export async function answersOf(
  db: Db,
  keyId: string,
  span: Span,
): Promise<{ readonly answers: AnswersUsed[]; readonly withoutTokens: number }> {
  const { rows } = await sql<Omit<AnswersUsed, "gateway" | "route"> & FoundRoute>`
    ${countedBetween(TOKENS_MEASURE, keyId, span)}, summed as (
      select gateway_id, route_id, model, sum(calls)::float8 as calls,
        sum(cut + unreported + unread + doubtful)::float8 as without
      from counted group by gateway_id, route_id, model
    )
    select s.gateway_id as "gatewayId", s.route_id as "routeId", s.model, s.calls, s.without, g.namespace, g.name,
      (select min(r ->> 'model') from jsonb_array_elements(g.routes) r where r ->> 'routeId' = s.route_id
        having count(*) = 1) as named
    from summed s left join gateways g on g.id = s.gateway_id and g.state = 'active'
    order by s.calls desc, s.gateway_id, s.route_id, s.model`.execute(db);
  return {
    withoutTokens: rows.reduce((sum, { without }) => sum + without, 0),
    answers: rows.map(({ gatewayId, model, calls, routeId, named, namespace, name }) => ({
      ...{ gatewayId, model, calls, route: routeId === "" ? undefined : named },
      gateway: namespace === null || name === null ? null : { namespace, name },
    })),
  };
}

type FoundRoute = {
  routeId: string;
  named: string | null;
  namespace: string | null;
  name: string | null;
  without: number;
};

/** Reads the highest number of requests or tokens of a key within five minutes and within an hour. */
export async function peakOf(db: Db, measure: "requests" | "tokens", keyId: string, span: Span): Promise<Peak> {
  const [of, figure] = measure === "requests" ? [REQUESTS_MEASURE, sql`count`] : [TOKENS_MEASURE, TOKENS];
  const recent = sql`slot >= ${asTimestamp(Math.max(span.from, span.to - RECENT_MS))}`;
  const most = (where: RawBuilder<unknown>) => sql`(select coalesce(max(sum), 0)::float8 from by_hour where ${where})`;
  const { rows } = await sql<Peak>`
    ${countedBetween(of, keyId, span)}, by_hour as (
      select ${beginOf(HOUR_STEP, sql`slot`)} as slot, sum(${figure}) as sum from counted group by 1
    )
    select (select coalesce(max(sum), 0)::float8 from (
        select sum(${figure}) as sum from ${sql.table(of.slots)}
        where key_id = ${keyId} and ${recent} and slot < ${asTimestamp(span.to)} group by slot) f) as "fiveMinutes",
      ${most(recent)} as "recentHour", ${most(sql`true`)} as hour`.execute(db);
  return rows[0] ?? { fiveMinutes: 0, recentHour: 0, hour: 0 };
}

/** Reads since when counts are kept for longer than eight days and none was lost, in milliseconds since the epoch. */
export async function usageCountedSince(db: Db): Promise<number> {
  const { rows } = await sql<{ since: number | null }>`
    select (extract(epoch from greatest(min(applied_at), ${LOST_USES_UNTIL})) * 1000)::float8 as since
    from schema_migrations where version >= ${HOURS_VERSION} having count(*) > 0`.execute(db);
  return rows[0]?.since ?? Number.POSITIVE_INFINITY;
}

/** Returns SQL that reads each count once: a count that is not summed up by hour yet is read from the five minutes. */
function countedBetween(measure: Measure, keyId: string, span: Span): RawBuilder<unknown> {
  const { slots, hours, dimensions, figures } = measure;
  const columns = sql.join(["slot", ...dimensions, ...figures].map((name) => sql.ref(name)));
  const horizon = sql`(select hours from ${sql.table(`${slots}_rolled`)})`;
  const question = { ...span, by: "all", step: "hour", limit: 1 } as const;
  return sql`with ${horizonsOf(measure, question)}, counted as materialized (
      select ${columns} from ${sql.table(slots)}
      where key_id = ${keyId} and slot >= ${horizon} and slot < ${asTimestamp(span.to)}
      union all select ${columns} from ${sql.table(hours)}
      where key_id = ${keyId} and slot >= ${asTimestamp(span.from)} and slot < ${horizon})`;
}
