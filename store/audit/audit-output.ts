/** Lease of the server that writes the audit log to its standard output, and the position up to which that was done. */
import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import type { AuditMark } from "./audit-feed.ts";

/** Name of the one output, which all servers of the installation share. */
const STDOUT = "stdout";
/** Time for which a server holds the output without renewing it. */
const HELD = sql`interval '30 seconds'`;

/**
 * Takes the output, or renews its lease.
 *
 * @param holder the server's own id
 * @returns position at which the output continues; null while another server holds it
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
 * Records that all events up to a seq are written, and renews the lease.
 *
 * @returns false, and nothing is recorded, if another server has taken the output
 */
export async function advanceAuditOutput(db: Db, holder: string, seq: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update audit_outputs set seq = ${seq}, held_until = clock_timestamp() + ${HELD}
    where name = ${STDOUT} and holder = ${holder}`.execute(db);
  return numAffectedRows > 0n;
}

/** Releases the output, so that another server can continue at once. */
export async function releaseAuditOutput(db: Db, holder: string): Promise<void> {
  await sql`update audit_outputs set held_until = '-infinity' where name = ${STDOUT} and holder = ${holder}`.execute(
    db,
  );
}
