import { type RawBuilder, sql } from "kysely";

/**
 * The rows of a question as a column of another statement, so that several questions are one. They are of texts alone,
 * which JSON has as they are.
 */
export function rowsAsJson<Row extends Readonly<Record<string, string | null>>>(
  rows: RawBuilder<Row>,
): RawBuilder<readonly Row[]> {
  return sql`(select coalesce(json_agg(one), '[]') from (${rows}) one)`;
}
