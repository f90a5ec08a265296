import { type RawBuilder, sql } from "kysely";
import type { Atom, AtomPosition } from "./atom.ts";

/** Orders of a list. Equal atoms come by their ids, in the same direction. */
export const SORTS = ["newest", "oldest", "updated", "importance"] as const;
export type Sort = (typeof SORTS)[number];

type Order = {
  /** SQL of the order of a relation `a`, as an index of each library has it, and of its reverse. */
  readonly by: RawBuilder<unknown>;
  readonly reversed: RawBuilder<unknown>;
  /** Returns the condition of an atom `a` that comes behind a position. */
  behind(position: AtomPosition): RawBuilder<unknown>;
};

const FALLING = sql`a.created_at desc, a.id desc`;
const RISING = sql`a.created_at, a.id`;

const ORDERS: Readonly<Record<Sort, Order>> = {
  newest: { by: FALLING, reversed: RISING, behind: (position) => sql`(a.created_at, a.id) < ${timeAndId(position)}` },
  oldest: { by: RISING, reversed: FALLING, behind: (position) => sql`(a.created_at, a.id) > ${timeAndId(position)}` },
  updated: {
    by: sql`a.updated_at desc, a.id desc`,
    reversed: sql`a.updated_at, a.id`,
    behind: (position) => sql`(a.updated_at, a.id) < ${timeAndId(position)}`,
  },
  importance: {
    by: sql`a.importance desc, a.updated_at desc, a.id desc`,
    reversed: sql`a.importance, a.updated_at, a.id`,
    behind: ({ at, id, importance = 0 }) =>
      sql`(a.importance, a.updated_at, a.id) < (${importance}::float8, ${new Date(at)}::timestamptz, ${id}::uuid)`,
  },
};

function timeAndId({ at, id }: AtomPosition): RawBuilder<unknown> {
  return sql`(${new Date(at)}::timestamptz, ${id}::uuid)`;
}

export function orderOf(sort: Sort): Order {
  return ORDERS[sort];
}

/** Returns the position of an atom in a list of this order. */
export function positionOf(sort: Sort, { id, createdAt, updatedAt, importance }: Atom): AtomPosition {
  if (sort === "importance") return { at: updatedAt, id, importance };
  return { at: sort === "updated" ? updatedAt : createdAt, id };
}
