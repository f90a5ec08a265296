import { sql } from "kysely";
import type { Db } from "../change.ts";
import { ServerVersionError } from "../errors.ts";

/** Oldest PostgreSQL, in the form of `server_version_num`: 15.0 is 150000. */
const OLDEST = 150_000;

/** @throws ServerVersionError for a PostgreSQL older than 15; its message names the version */
export async function assertServerVersion(db: Db): Promise<void> {
  const { rows } = await sql<{ number: number; name: string }>`
    select current_setting('server_version_num')::integer as number, current_setting('server_version') as name`.execute(
    db,
  );
  const [server] = rows;
  if (server === undefined || server.number >= OLDEST) return;
  throw new ServerVersionError(`the database is PostgreSQL ${server.name}, and 15 or later is needed: upgrade it`);
}
