import { type RawBuilder, sql } from "kysely";
import { TOKEN_FIGURES } from "../../domain/usage/token-count.ts";

/** Times for which requests and tokens are kept by five minutes, and by hour. */
export const SLOTS_KEPT = sql`interval '8 days'`;
export const HOURS_KEPT_DAYS = 40;
export const HOURS_KEPT: RawBuilder<unknown> = sql.raw(`interval '${HOURS_KEPT_DAYS} days'`);

/** Measure that is counted by five minutes, by hour and by day: its tables, dimensions besides the key, and figures. */
export type Measure = {
  readonly slots: string;
  readonly hours: string;
  readonly days: string;
  readonly dimensions: readonly string[];
  readonly figures: readonly string[];
};

/** Requests that were let through. */
export const REQUESTS_MEASURE: Measure = {
  slots: "key_requests",
  hours: "key_request_hours",
  days: "key_request_days",
  dimensions: ["scope"],
  figures: ["count"],
};

/** Use of models, as reported with their answers. */
export const TOKENS_MEASURE: Measure = {
  slots: "key_tokens",
  hours: "key_token_hours",
  days: "key_token_days",
  dimensions: ["gateway_id", "route_id", "model"],
  figures: TOKEN_FIGURES,
};

export const HOUR_STEP = sql`interval '1 hour'`;
export const DAY_STEP = sql`interval '1 day'`;

/** Returns SQL for the beginning of the hour or the day, in UTC, that a time is in. */
export function beginOf(step: RawBuilder<unknown>, time: RawBuilder<unknown>): RawBuilder<Date> {
  return sql<Date>`date_bin(${step}, ${time}, 'epoch')`;
}

/** Oldest hour and day whose rows all exist: earlier rows that were summed up may have been deleted. */
export const OLDEST_HOUR = sql`clock_timestamp() - ${SLOTS_KEPT} + interval '2 hours'`;
export const OLDEST_DAY = sql`clock_timestamp() - ${HOURS_KEPT} + interval '26 hours'`;
