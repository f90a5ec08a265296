import { sql } from "kysely";
import type { AuditSubject } from "../../audit/audit-search.ts";
import type { Db } from "../../database/change.ts";
import { identifyKeys } from "./identified-keys.ts";

/** Maximum number of keys of one name that are looked up at once. */
const MAX_NAMESAKES = 50;

/** Resolves a text to the object that a person means: a key by its id, prefix or name; others by their id or name. */
export async function auditSubject(
  db: Db,
  text: string,
  teamIds: readonly string[] | undefined,
): Promise<AuditSubject> {
  const { rows } = await sql<{ id: string }>`
    select id from keys where name = ${text}
      ${teamIds === undefined ? sql`` : sql`and team_id = any(${teamIds}::text[])`}
    order by id desc limit ${MAX_NAMESAKES}`.execute(db);
  return { text, keyIds: [...(await identifyKeys(db, text, teamIds)), ...rows.map(({ id }) => id)] };
}
