import { type RawBuilder, sql } from "kysely";
import { TOKEN_FIGURES, type TokenFigures } from "../../domain/usage/token-count.ts";
import type { UsageCost } from "../../domain/usage/usage-cost.ts";
import type { Db } from "../database/change.ts";
import { asTimestamp, countedParts, horizonsOf } from "./counted-parts.ts";
import { type Pricing, pricingBy } from "./read-costs.ts";
import type { UsagePosition, UsageQuestion, UsageStep } from "./usage-question.ts";
import { REQUESTS_MEASURE, TOKENS_MEASURE } from "./usage-tables.ts";

/** Use by one group within one period. */
export type UsageRow = UsagePosition & {
  /** Number of requests; undefined for groups by which they are not counted: they are counted by key and team alone. */
  readonly requests: number | undefined;
  readonly figures: TokenFigures;
  /** Cost; undefined if nothing is priced. */
  readonly cost: UsageCost | undefined;
};

/**
 * Reads usage, in the order of time and group. Each count is in it once: a count that is not summed up by hour or by
 * day yet is read from the finer table, by the same statement.
 */
export async function readUsage(db: Db, question: UsageQuestion): Promise<UsageRow[]> {
  const { by, gatewayIds, model, prices } = question;
  const hasRequests = ["key", "team", "label", "all"].includes(by) && gatewayIds === undefined && model === undefined;
  const pricing = prices === undefined || prices === null ? undefined : pricingBy(prices);
  const tokens = countedParts(TOKENS_MEASURE, question, {
    ...{ figures: TOKEN_FIGURES.map((name) => sql`t.${sql.ref(name)}`), requests: sql`0`, pricing },
  });
  const none = TOKEN_FIGURES.map(() => sql`0`);
  const requests = countedParts(REQUESTS_MEASURE, question, { figures: none, requests: sql`t.count`, pricing });
  const parts = hasRequests ? [...tokens, ...requests] : tokens;
  const { rows } = await sql<FoundRow>`
    with ${horizonsOf(TOKENS_MEASURE, question)}, ${horizonsOf(REQUESTS_MEASURE, question)}
    ${pricing === undefined ? countedRows(question, parts) : pricedRows(question, parts, pricing)}`.execute(db);
  return rows.map(
    ({ at, grp, requests: count, cost, unpricedTokens = 0, unpricedToolCalls = 0, unpricedUnits = 0, ...figures }) => ({
      ...{ at, group: grp, figures },
      requests: hasRequests ? count : undefined,
      cost:
        cost === undefined
          ? undefined
          : { trillionths: BigInt(cost), unpricedTokens, unpricedToolCalls, unpricedUnits },
    }),
  );
}

type FoundRow = { at: number; grp: string; requests: number } & TokenFigures & {
    cost?: string;
    unpricedTokens?: number;
    unpricedToolCalls?: number;
    unpricedUnits?: number;
  };

const FIGURE_COLUMNS = sql.join(TOKEN_FIGURES.map((name) => sql.ref(name)));
const SUMS = sql.join(
  ["requests", ...TOKEN_FIGURES].map((name) => sql`sum(${sql.ref(`c.${name}`)})::bigint as ${sql.ref(name)}`),
);
const AT_MS = sql`(extract(epoch from c.at) * 1000)::float8 as at`;

function countedRows(question: UsageQuestion, parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`select ${AT_MS}, c.grp, ${SUMS}
    from (${sql.join(parts, sql` union all `)}) as c (at, grp, requests, ${FIGURE_COLUMNS})
    ${laterOf(question)} group by c.at, c.grp ${inOrder(question)}`;
}

/** Returns a query that first sums up by model and days of prices, so that few rows are joined with the prices. */
function pricedRows(
  question: UsageQuestion,
  parts: readonly RawBuilder<unknown>[],
  { tables, joins, columns }: Pricing,
): RawBuilder<unknown> {
  return sql`, parted as materialized (select c.at, c.grp, c.model, c.span, ${SUMS}
      from (${sql.join(parts, sql` union all `)}) as c (at, grp, requests, ${FIGURE_COLUMNS}, model, span)
      ${laterOf(question)} group by c.at, c.grp, c.model, c.span), ${tables}
    select ${AT_MS}, c.grp, ${SUMS}, ${columns} from parted c ${joins} group by c.at, c.grp ${inOrder(question)}`;
}

function inOrder({ isMostFirst, limit }: UsageQuestion): RawBuilder<unknown> {
  const most = isMostFirst === true ? sql`sum(c.calls) + sum(c.requests) desc,` : sql``;
  return sql`order by ${most} c.at, c.grp limit ${limit}`;
}

function laterOf({ step, after }: UsageQuestion): RawBuilder<unknown> {
  return after === undefined ? sql`` : sql`where ${isAfter(step, after)}`;
}

/**
 * Returns the SQL condition that a row comes after a position. A total's time is the beginning of the range, which
 * differs by the time the next page is asked for, so only its group counts.
 */
function isAfter(step: UsageStep, { at, group }: UsagePosition): RawBuilder<unknown> {
  return step === "total" ? sql`c.grp > ${group}` : sql`(c.at, c.grp) > (${asTimestamp(at)}, ${group})`;
}

/** True if a model of this name has answered these teams within the time that counts are kept. */
export async function isKnownModel(db: Db, model: string, teamIds: readonly string[] | undefined): Promise<boolean> {
  const of = teamIds === undefined ? sql`` : sql`and team_id = any(${teamIds}::text[])`;
  const { rows } = await sql<{ isKnown: boolean }>`select exists (
    select from key_tokens where model = ${model} ${of} union all
    select from key_token_hours where model = ${model} ${of} union all
    select from key_token_days where model = ${model} ${of}) as "isKnown"`.execute(db);
  return rows[0]?.isKnown ?? false;
}
