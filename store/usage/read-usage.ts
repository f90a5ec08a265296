import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "../../domain/duration.ts";
import { TOKEN_FIGURES, type TokenFigures } from "../../domain/usage/token-count.ts";
import type { Db } from "../database/change.ts";
import {
  beginOf,
  DAY_STEP,
  HOUR_STEP,
  type Measure,
  OLDEST_DAY,
  OLDEST_HOUR,
  REQUESTS_MEASURE,
  TOKENS_MEASURE,
} from "./usage-tables.ts";

/** What usage is added up by. */
export type UsageGroup = "key" | "team" | "gateway" | "route" | "model" | "all";
/** How long each piece of time is: `slot` is five minutes. */
export type UsageStep = "total" | "slot" | "hour" | "day";

/** A row's place in the order of the answer. */
export type UsagePosition = { readonly at: number; readonly group: string };

export type UsageQuestion = {
  /**
   * Milliseconds since the epoch: from then on, and before then. Whole hours, whole days where hours are not kept any
   * more; five minutes with the step `slot`, for eight days.
   */
  readonly from: number;
  readonly to: number;
  readonly by: UsageGroup;
  readonly step: UsageStep;
  /** Of these teams, keys or gateways alone; undefined for all. */
  readonly teamIds?: readonly string[] | undefined;
  readonly keyIds?: readonly string[] | undefined;
  readonly gatewayIds?: readonly string[] | undefined;
  readonly model?: string | undefined;
  /** Whether five minutes alone are read, of the last eight days: the times may be other than whole hours then. */
  readonly bySlots?: boolean | undefined;
  /** Whether those of most answers and requests come first, and not those of the first group. */
  readonly isMostFirst?: boolean | undefined;
  readonly after?: UsagePosition | undefined;
  readonly limit: number;
};

/** What one group used within one piece of time. */
export type UsageRow = UsagePosition & {
  /** Undefined where requests are not counted by what is asked: they are by key and team alone. */
  readonly requests: number | undefined;
  readonly figures: TokenFigures;
};

/** The id of a group, or the name of a model; of a route those of its gateway and its own, empty for none. */
const GROUPS: Readonly<Record<UsageGroup, RawBuilder<string>>> = {
  key: sql`t.key_id`,
  team: sql`t.team_id`,
  gateway: sql`t.gateway_id`,
  route: sql`t.gateway_id || ' ' || t.route_id`,
  model: sql`t.model`,
  all: sql`''`,
};

/**
 * What was used, in the order of time and group. Each count is in it once: what is not summed up by hour or by day yet
 * is read where it was counted, by the same statement.
 */
export async function readUsage(db: Db, question: UsageQuestion): Promise<UsageRow[]> {
  const { by, gatewayIds, model, after, limit } = question;
  const hasRequests = ["key", "team", "all"].includes(by) && gatewayIds === undefined && model === undefined;
  const tokens = partsOf(
    TOKENS_MEASURE,
    question,
    TOKEN_FIGURES.map((name) => sql`t.${sql.ref(name)}`),
    sql`0`,
  );
  const none = TOKEN_FIGURES.map(() => sql`0`);
  const requests = partsOf(REQUESTS_MEASURE, question, none, sql`t.count`);
  const sums = TOKEN_FIGURES.map((name) => sql`sum(${sql.ref(name)})::bigint as ${sql.ref(name)}`);
  const columns = sql.join(TOKEN_FIGURES.map((name) => sql.ref(name)));
  const later = after === undefined ? sql`` : sql`where ${isAfter(question.step, after)}`;
  const { rows } = await sql<{ at: number; grp: string; requests: number } & TokenFigures>`
    with ${horizonsOf(TOKENS_MEASURE, question)}, ${horizonsOf(REQUESTS_MEASURE, question)}
    select (extract(epoch from at) * 1000)::float8 as at, grp, sum(requests)::bigint as requests, ${sql.join(sums)}
    from (${sql.join(hasRequests ? [...tokens, ...requests] : tokens, sql` union all `)})
      as counted (at, grp, requests, ${columns})
    ${later} group by counted.at, grp
    order by ${question.isMostFirst === true ? sql`sum(calls) + sum(requests) desc,` : sql``} counted.at, grp limit ${limit}`.execute(
    db,
  );
  return rows.map(({ at, grp, requests: count, ...figures }) => ({
    ...{ at, group: grp, figures },
    requests: hasRequests ? count : undefined,
  }));
}

/** A total is at the beginning of the question, which is another one by the time of the next page. */
function isAfter(step: UsageStep, { at, group }: UsagePosition): RawBuilder<unknown> {
  return step === "total" ? sql`grp > ${group}` : sql`(at, grp) > (${timeOf(at)}, ${group})`;
}

/** Whether a model of this name has answered within what is kept, to these teams. */
export async function isKnownModel(db: Db, model: string, teamIds: readonly string[] | undefined): Promise<boolean> {
  const of = teamIds === undefined ? sql`` : sql`and team_id = any(${teamIds}::text[])`;
  const { rows } = await sql<{ isKnown: boolean }>`select exists (
    select from key_tokens where model = ${model} ${of} union all
    select from key_token_hours where model = ${model} ${of} union all
    select from key_token_days where model = ${model} ${of}) as "isKnown"`.execute(db);
  return rows[0]?.isKnown ?? false;
}

/**
 * From when on a measure's hours are not all summed up, and its days: everything before is, since a row that came late
 * is one that is not.
 */
function horizonsOf({ slots, hours }: Measure, { from, to }: UsageQuestion): RawBuilder<unknown> {
  const first = (table: string, step: RawBuilder<unknown>, oldest: RawBuilder<unknown>) => sql`(
    select ${beginOf(step, sql`slot`)} from ${sql.table(table)}
    where not is_rolled and ${beginOf(step, sql`slot`)} >= ${oldest} order by 1 limit 1)`;
  return sql`${sql.table(`${slots}_rolled`)} (hours, days) as materialized (
    select hours, ${beginOf(DAY_STEP, sql`least(hours, ${first(hours, DAY_STEP, OLDEST_DAY)})`)}
    from (select greatest(${timeOf(from)}, least(${timeOf(to)}, ${first(slots, HOUR_STEP, OLDEST_HOUR)})) as hours) h)`;
}

/** What is read of each table, so that no two parts have a count in common. */
function partsOf(
  measure: Measure,
  question: UsageQuestion,
  figures: readonly RawBuilder<unknown>[],
  requests: RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  const { from, to, step } = question;
  const rolled = sql.table(`${measure.slots}_rolled`);
  const hours = sql`(select hours from ${rolled})`;
  const days = sql`(select days from ${rolled})`;
  const firstDay = timeOf(Math.ceil(from / DAY_MS) * DAY_MS);
  const slot = sql`t.slot`;
  const part = (table: string, within: RawBuilder<unknown>) => {
    const ofKey = table === REQUESTS_MEASURE.slots;
    // Five minutes of requests are by key alone.
    const source = ofKey
      ? sql`(select r.*, coalesce(k.team_id, '') as team_id from key_requests r left join keys k on k.id = r.key_id) t`
      : sql`${sql.table(table)} t`;
    return sql`select ${timeAt(step, from)}, ${GROUPS[question.by]}, ${requests}, ${sql.join(figures)}
      from ${source} where ${within} ${filterOf(question)}`;
  };
  if (step === "slot" || question.bySlots === true)
    return [part(measure.slots, sql`${slot} >= ${timeOf(from)} and ${slot} < ${timeOf(to)}`)];
  const parts = [part(measure.slots, sql`${slot} >= ${hours} and ${slot} < ${timeOf(to)}`)];
  if (step === "hour") return [...parts, part(measure.hours, sql`${slot} >= ${timeOf(from)} and ${slot} < ${hours}`)];
  return [
    ...parts,
    part(measure.hours, sql`${slot} >= ${timeOf(from)} and ${slot} < least(${firstDay}, ${hours})`),
    part(measure.hours, sql`${slot} >= greatest(${firstDay}, ${days}) and ${slot} < ${hours}`),
    part(measure.days, sql`${slot} >= ${firstDay} and ${slot} < ${days}`),
  ];
}

function filterOf({ teamIds, keyIds, gatewayIds, model }: UsageQuestion): RawBuilder<unknown> {
  const among = (column: RawBuilder<unknown>, ids: readonly string[] | undefined) =>
    ids === undefined ? [] : [sql`and ${column} = any(${ids}::text[])`];
  return sql.join(
    [
      ...among(sql`t.team_id`, teamIds),
      ...among(sql`t.key_id`, keyIds),
      ...among(sql`t.gateway_id`, gatewayIds),
      ...(model === undefined ? [] : [sql`and t.model = ${model}`]),
      sql``,
    ],
    sql` `,
  );
}

/** Where a row's piece of time begins. */
function timeAt(step: UsageStep, from: number): RawBuilder<unknown> {
  if (step === "slot") return sql`t.slot`;
  if (step === "total") return timeOf(from);
  return beginOf(step === "hour" ? HOUR_STEP : DAY_STEP, sql`t.slot`);
}

function timeOf(ms: number): RawBuilder<unknown> {
  return sql`to_timestamp(${ms}::float8 / 1000)`;
}
