import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "../../domain/duration.ts";
import type { Pricing } from "./read-costs.ts";
import type { UsageGroup, UsageQuestion, UsageStep } from "./usage-question.ts";
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

/** SQL for each group: the id of an object, or name of a model; for a route, its gateway's id and its own, or empty. */
const GROUPS: Readonly<Record<UsageGroup, RawBuilder<string>>> = {
  key: sql`t.key_id`,
  team: sql`t.team_id`,
  gateway: sql`t.gateway_id`,
  route: sql`t.gateway_id || ' ' || t.route_id`,
  model: sql`t.model`,
  label: sql`coalesce(labelled_keys.value, labelled_teams.value, '')`,
  all: sql`''`,
};

/**
 * Returns SQL for the times from which a measure's hours and days are not yet all summed up. All rows before these
 * times are summed up: a row that came late moves the time back, because it is not marked as summed up.
 */
export function horizonsOf({ slots, hours }: Measure, { from, to }: UsageQuestion): RawBuilder<unknown> {
  const first = (table: string, step: RawBuilder<unknown>, oldest: RawBuilder<unknown>) => sql`(
    select ${beginOf(step, sql`slot`)} from ${sql.table(table)}
    where not is_rolled and ${beginOf(step, sql`slot`)} >= ${oldest} order by 1 limit 1)`;
  return sql`${sql.table(`${slots}_rolled`)} (hours, days) as materialized (
    select hours, ${beginOf(DAY_STEP, sql`least(hours, ${first(hours, DAY_STEP, OLDEST_DAY)})`)}
    from (select greatest(${asTimestamp(from)}, least(${asTimestamp(to)}, ${first(slots, HOUR_STEP, OLDEST_HOUR)})) as hours) h)`;
}

type Counted = {
  readonly figures: readonly RawBuilder<unknown>[];
  readonly requests: RawBuilder<unknown>;
  readonly pricing: Pricing | undefined;
};

/** Returns the queries for each table, so that no two of them contain the same count. */
export function countedParts(
  measure: Measure,
  question: UsageQuestion,
  { figures, requests, pricing }: Counted,
): RawBuilder<unknown>[] {
  const { from, to, step } = question;
  const rolled = sql.table(`${measure.slots}_rolled`);
  const hours = sql`(select hours from ${rolled})`;
  const days = sql`(select days from ${rolled})`;
  const firstDay = asTimestamp(Math.ceil(from / DAY_MS) * DAY_MS);
  const slot = sql`t.slot`;
  const part = (table: string, within: RawBuilder<unknown>) => {
    const ofKey = table === REQUESTS_MEASURE.slots;
    // Five minutes of requests are by key alone.
    const counted = ofKey ? requestsWithTeams(question) : sql`${sql.table(table)} t`;
    const source = question.by === "label" ? sql`${counted} ${labelled(question.label ?? "")}` : counted;
    const model = measure === TOKENS_MEASURE ? sql`t.model` : sql`''`;
    const priced = pricing === undefined ? sql`` : sql`, ${model}, ${pricing.spanOf(slot)}`;
    return sql`select ${timeAt(step, from)}, ${GROUPS[question.by]}, ${requests}, ${sql.join(figures)} ${priced}
      from ${source} where ${within} ${filterOf(question)}`;
  };
  if (step === "slot" || question.bySlots === true)
    return [part(measure.slots, sql`${slot} >= ${asTimestamp(from)} and ${slot} < ${asTimestamp(to)}`)];
  const parts = [part(measure.slots, sql`${slot} >= ${hours} and ${slot} < ${asTimestamp(to)}`)];
  if (step === "hour")
    return [...parts, part(measure.hours, sql`${slot} >= ${asTimestamp(from)} and ${slot} < ${hours}`)];
  return [
    ...parts,
    part(measure.hours, sql`${slot} >= ${asTimestamp(from)} and ${slot} < least(${firstDay}, ${hours})`),
    part(measure.hours, sql`${slot} >= greatest(${firstDay}, ${days}) and ${slot} < ${hours}`),
    part(measure.days, sql`${slot} >= ${firstDay} and ${slot} < ${days}`),
  ];
}

/**
 * Returns requests with their teams. If the question is about some teams, they are read by the keys of these teams, and
 * the requests of others are not read.
 */
function requestsWithTeams({ teamIds }: UsageQuestion): RawBuilder<unknown> {
  return teamIds === undefined
    ? sql`(select r.*, coalesce(k.team_id, '') as team_id from key_requests r left join keys k on k.id = r.key_id) t`
    : sql`(select r.*, k.team_id from key_requests r join keys k on k.id = r.key_id) t`;
}

/** Joins the present labels: use from before a label was changed is counted by the new label too. */
function labelled(name: string): RawBuilder<unknown> {
  return sql`left join (select key_id, labels ->> ${name} as value from key_declarations where labels ? ${name}) labelled_keys
      on labelled_keys.key_id = t.key_id
    left join (select id, labels ->> ${name} as value from teams where labels ? ${name}) labelled_teams
      on labelled_teams.id = t.team_id`;
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

/** Returns SQL for the beginning of the period that a row is in. */
function timeAt(step: UsageStep, from: number): RawBuilder<unknown> {
  if (step === "slot") return sql`t.slot`;
  if (step === "total") return asTimestamp(from);
  return beginOf(step === "hour" ? HOUR_STEP : DAY_STEP, sql`t.slot`);
}

export function asTimestamp(ms: number): RawBuilder<unknown> {
  return sql`to_timestamp(${ms}::float8 / 1000)`;
}
