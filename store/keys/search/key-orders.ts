import { type RawBuilder, sql } from "kysely";

/** Orders of key lists. Each has two indexes on its table: over all rows, and with the team as first column. */
export const KEY_ORDERS = ["name", "newest", "oldest", "used-last", "unused-longest", "ends-soonest"] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

/**
 * Position of a key in an order: its name, or a time in seconds since the epoch, to the microsecond, as a decimal
 * number or `Infinity`; and its id.
 */
export type KeyPosition = { readonly place: string; readonly id: string };

/** SQL of an order, over rows `r` of one table. */
export type OrderSql = {
  readonly table: RawBuilder<unknown>;
  /** Joins the row `r` of a key to a row `k` that has all columns of `keys`. */
  readonly joinToKey: RawBuilder<unknown>;
  /** Columns that identify a key, and that its position is made of. */
  readonly id: RawBuilder<unknown>;
  readonly column: RawBuilder<unknown>;
  /** Column in the form that {@link KeyPosition} has. */
  readonly place: RawBuilder<unknown>;
  readonly direction: RawBuilder<unknown>;
  /** Operator that holds if its left side comes no later in the order than its right side. */
  readonly upTo: RawBuilder<unknown>;
  /** Returns the SQL condition that a row comes after a position. */
  isAfter(position: KeyPosition): RawBuilder<unknown>;
};

// The row `r` of a key is the row `k` itself: it is not read again.
const KEYS = { table: sql`keys`, id: sql`r.id`, joinToKey: sql`cross join lateral (select k.*) r` };
const USES = { table: sql`key_last_uses`, id: sql`r.key_id`, joinToKey: sql`join key_last_uses r on r.key_id = k.id` };

const ORDER_SQL: Readonly<Record<KeyOrder, OrderSql>> = {
  name: orderBy(KEYS, sql`r.name`, "text", "asc"),
  newest: orderBy(KEYS, sql`r.created_at`, "time", "desc"),
  oldest: orderBy(KEYS, sql`r.created_at`, "time", "asc"),
  "used-last": orderBy(USES, sql`r.used_at`, "time", "desc"),
  "unused-longest": orderBy(USES, sql`r.used_at`, "time", "asc"),
  "ends-soonest": orderBy(KEYS, sql`r.ends_at`, "time", "asc"),
};

const REVERSED_SQL: Readonly<Record<KeyOrder, OrderSql>> = {
  name: orderBy(KEYS, sql`r.name`, "text", "desc"),
  newest: ORDER_SQL.oldest,
  oldest: ORDER_SQL.newest,
  "used-last": ORDER_SQL["unused-longest"],
  "unused-longest": ORDER_SQL["used-last"],
  "ends-soonest": orderBy(KEYS, sql`r.ends_at`, "time", "desc"),
};

/** @param isBackward true if the list is read from its end, by the same index */
export function orderSql(order: KeyOrder, isBackward: boolean): OrderSql {
  return isBackward ? REVERSED_SQL[order] : ORDER_SQL[order];
}

function orderBy(
  of: Pick<OrderSql, "table" | "id" | "joinToKey">,
  column: RawBuilder<unknown>,
  type: "text" | "time",
  direction: "asc" | "desc",
): OrderSql {
  const compare = direction === "asc" ? sql`>` : sql`<`;
  const parse = (place: string) => (type === "text" ? sql`${place}::text` : timeAt(place));
  return {
    ...of,
    column,
    place: type === "text" ? column : sql`extract(epoch from ${column})::text`,
    direction: direction === "asc" ? sql`asc` : sql`desc`,
    upTo: direction === "asc" ? sql`<=` : sql`>=`,
    isAfter: ({ place, id: last }) => sql`(${column}, ${of.id}) ${compare} (${parse(place)}, ${last})`,
  };
}

/** Returns SQL for a time, in two parts: after 2255, floating-point seconds are not exact to the microsecond. */
function timeAt(place: string): RawBuilder<unknown> {
  const [seconds = "", fraction = ""] = place.split(".");
  const microseconds = `${seconds.startsWith("-") ? "-" : ""}${fraction.padEnd(6, "0")}`;
  return sql`(to_timestamp(${seconds}::float8) + ${microseconds}::integer * interval '1 microsecond')`;
}
