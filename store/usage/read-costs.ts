import { type RawBuilder, sql } from "kysely";
import { UNITS } from "../../domain/access/gateway-operations.ts";
import { type PriceList, type PriceOrder, priceOrder } from "../../domain/usage/price-list.ts";
import { KINDS_OF_TOKENS, TOKEN_KINDS, type TokenKind } from "../../domain/usage/tokens.ts";

/** Parts of a statement that prices counts. Rows are first grouped by model and price period, then by group. */
export type Pricing = {
  /** Tables of the statement, which follow a table `parted` with `model`, `span` and figures. */
  readonly tables: RawBuilder<unknown>;
  /** Joins a row `c` of `parted` with its prices `p`. */
  readonly joins: RawBuilder<unknown>;
  /** Sums over rows of a group. */
  readonly columns: RawBuilder<unknown>;
  /** Returns SQL for the number of the price period that a time is in. */
  spanOf(time: RawBuilder<unknown>): RawBuilder<unknown>;
};

/**
 * Prices counts in the query that reads them, so that the answer has no more rows than without, and each count once.
 * All is exact: sums and products of `numeric`.
 */
export function pricingBy(list: PriceList): Pricing {
  const order = priceOrder(list);
  const priceOf = (kind: TokenKind) => sql.ref(`p.price_${kind}`);
  const countOf = (kind: TokenKind) => sql.ref(`c.${kind}`);
  const plus = (parts: readonly RawBuilder<unknown>[]) => sql.join(parts, sql` + `);
  const cost = plus(TOKEN_KINDS.map((kind) => sql`${countOf(kind)} * coalesce(${priceOf(kind)}, 0)`));
  const unpricedOf = (kinds: readonly TokenKind[]) =>
    plus(kinds.map((kind) => sql`case when ${isUnpriced(kind)} then ${countOf(kind)} else 0 end`));
  // A call that is counted in a unit is paid for by it or by its tokens: one that has a price stands for the other.
  const isPaidIn = (kind: TokenKind) => sql`(${countOf(kind)} > 0 and ${priceOf(kind)} is not null)`;
  const isPaidInUnits = sql.join(UNITS.map(isPaidIn), sql` or `);
  const otherwisePaid = (kind: TokenKind) => {
    if (kind === "tool_calls") return sql`false`;
    return KINDS_OF_TOKENS.includes(kind) ? isPaidInUnits : isPaidIn("output");
  };
  const isUnpriced = (kind: TokenKind) => sql`${priceOf(kind)} is null and not (${otherwisePaid(kind)})`;
  return {
    tables: sql`${namesTable(order)}, ${spansTable(order)}, models as materialized (
      select model, (select n.place from price_names n
        where case when n.is_prefix then starts_with(m.model, n.name) else m.model = n.name end
        order by n.place limit 1) as name
      from (select distinct model from parted) m)`,
    joins: sql`join models on models.model = c.model
      left join price_spans p on p.name = models.name and c.span >= p.first and c.span < p.last`,
    columns: sql`sum(${cost})::text as cost, sum(${unpricedOf(KINDS_OF_TOKENS)})::bigint as "unpricedTokens",
      sum(${unpricedOf(["tool_calls"])})::bigint as "unpricedToolCalls",
      sum(${unpricedOf(UNITS)})::bigint as "unpricedUnits"`,
    spanOf: (time) => sql`width_bucket((extract(epoch from ${time}) * 1000)::float8, ${[...order.days]}::float8[])`,
  };
}

function namesTable({ names }: PriceOrder): RawBuilder<unknown> {
  return sql`price_names (place, name, is_prefix) as materialized (select * from unnest(${names.map((_, index) => index)}::int[],
    ${names.map(({ name }) => name)}::text[], ${names.map(({ isPrefix }) => isPrefix)}::boolean[]))`;
}

function spansTable({ spans }: PriceOrder): RawBuilder<unknown> {
  const columns = sql.join(TOKEN_KINDS.map((kind) => sql.ref(`price_${kind}`)));
  const prices = sql.join(
    TOKEN_KINDS.map((kind) => sql`${spans.map(({ prices: of }) => of[kind]?.toString() ?? null)}::numeric[]`),
  );
  return sql`price_spans (name, first, last, ${columns}) as materialized (select * from unnest(${spans.map(({ name }) => name)}::int[],
    ${spans.map(({ first }) => first)}::int[], ${spans.map(({ end }) => end)}::int[], ${prices}))`;
}
