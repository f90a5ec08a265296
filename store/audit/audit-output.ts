/** Which server writes the audit log to its standard output, and up to where that was done. */
import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import type { AuditMark } from "./audit-feed.ts";

/** There is one, for all servers of the installation. */
const STDOUT = "stdout";
/** For so long one server holds the output without another word of it. */
const HELD = sql`interval '30 seconds'`;

/**
 * Takes the output, or holds it on.
 *
 * @param holder the server's own id
 * @returns where it goes on; null while another server holds it
 */
export async function takeAuditOutput(db: Db, holder: string): Promise<AuditMark | null> {
  const { rows } = await sql<{ seq: number }>`
    insert into audit_outputs as o (name, holder, held_until) values (${STDOUT}, ${holder}, clock_timestamp() + ${HELD})
    on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
      where o.holder = excluded.holder or o.held_until < clock_timestamp()
    returning seq`.execute(db);
  return rows[0] === undefined ? null : { seq: rows[0].seq, mark: null };
}

/**
 * Notes that all up to there is written, and holds the output on.
 *
 * @returns false, and nothing is noted, where another server has the output meanwhile
 */
export async function advanceAuditOutput(db: Db, holder: string, seq: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update audit_outputs set seq = ${seq}, held_until = clock_timestamp() + ${HELD}
    where name = ${STDOUT} and holder = ${holder}`.execute(db);
  return numAffectedRows > 0n;
}

/** Lets another server go on at once. */
export async function releaseAuditOutput(db: Db, holder: string): Promise<void> {
  await sql`update audit_outputs set held_until = '-infinity' where name = ${STDOUT} and holder = ${holder}`.execute(
    db,
  );
}
