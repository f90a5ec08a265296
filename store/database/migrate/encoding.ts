import { sql } from "kysely";
import type { Db } from "../change.ts";
import { EncodingError } from "../errors.ts";

/**
 * Refuses a database that cannot hold what callers write, which is Unicode.
 *
 * @returns undefined if the encoding is UTF8; a line that says what is missing if the database knows bytes alone
 *   (SQL_ASCII)
 * @throws EncodingError that names any other encoding
 */
export async function judgeEncoding(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ encoding: string }>`select getdatabaseencoding() as encoding`.execute(db);
  const encoding = rows[0]?.encoding ?? "";
  if (encoding === "UTF8") return undefined;
  const step = "make a database WITH ENCODING 'UTF8' TEMPLATE template0, and restore a dump of this one there";
  if (encoding !== "SQL_ASCII") {
    throw new EncodingError(`the database's encoding is ${encoding}, and UTF8 is needed: ${step}`);
  }
  return `the database's encoding is SQL_ASCII: searches find words with other letters than ASCII only as they were written; ${step}`;
}
