import { sql } from "kysely";

/** Fields of an atom that it is ranked by. */
export type RankedRow = {
  readonly id: string;
  readonly importance: number;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
  readonly updatedMs: number;
};

/** Columns that {@link toRankedRow} takes. */
export type RankedColumns = {
  readonly id: string;
  readonly importance: number;
  readonly created_ms: number;
  readonly updated_ms: number;
};

/** SQL of {@link RankedColumns}, over a relation `a` of atoms. */
export const RANKED_COLUMNS = sql`a.id::text, a.importance, extract(epoch from a.created_at)::float8 * 1000 as created_ms,
  extract(epoch from a.updated_at)::float8 * 1000 as updated_ms`;

export function toRankedRow({ id, importance, created_ms, updated_ms }: RankedColumns): RankedRow {
  return { id, importance, createdMs: Math.round(created_ms), updatedMs: Math.round(updated_ms) };
}
