import { type RawBuilder, sql } from "kysely";

/** The orders that keys are listed in: each is an index of the table it is of, over the team too. */
export const KEY_ORDERS = ["name", "newest", "oldest", "used-last", "unused-longest", "ends-soonest"] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

/**
 * Where a key stands in an order: its name, or a time in seconds since the epoch, to the microsecond, as a decimal number or
 * `Infinity`; and its id.
 */
export type KeyPosition = { readonly place: string; readonly id: string };

/** An order as SQL, of rows `r` of one table. */
export type OrderSql = {
  readonly table: RawBuilder<unknown>;
  /** Joins the row `r` of a key to a row `k` that has all columns of `keys`. */
  readonly joinToKey: RawBuilder<unknown>;
  /** The columns that identify a key, and that its place comes from. */
  readonly id: RawBuilder<unknown>;
  readonly column: RawBuilder<unknown>;
  /** The column as {@link KeyPosition} has it. */
  readonly place: RawBuilder<unknown>;
  readonly direction: RawBuilder<unknown>;
  /** Compares what comes no later, on its left, with what it does not come after. */
  readonly upTo: RawBuilder<unknown>;
  /** Whether a row comes after a position. */
  isAfter(position: KeyPosition): RawBuilder<unknown>;
};

// Of a key the row is the same: it is not read again.
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

/** @param isBackward whether the list is read from its end on, by the same index */
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

/** In two parts, since a floating-point number of seconds is not exact to the microsecond after the year 2255. */
function timeAt(place: string): RawBuilder<unknown> {
  const [seconds = "", fraction = ""] = place.split(".");
  const microseconds = `${seconds.startsWith("-") ? "-" : ""}${fraction.padEnd(6, "0")}`;
  return sql`(to_timestamp(${seconds}::float8) + ${microseconds}::integer * interval '1 microsecond')`;
}
