import { type RawBuilder, sql } from "kysely";

/**
 * Returns the rows of a query as a column of another statement, so that several queries are one statement. The columns
 * of the rows are texts alone, which JSON represents as they are.
 */
export function rowsAsJson<Row extends Readonly<Record<string, string | null>>>(
  rows: RawBuilder<Row>,
): RawBuilder<readonly Row[]> {
  return sql`(select coalesce(json_agg(one), '[]') from (${rows}) one)`;
}
