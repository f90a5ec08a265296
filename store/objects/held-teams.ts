import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../database/change.ts";

/** Number of the advisory lock at which changes that hold a team and changes of the team wait for their turn. */
const TURN = sql`hashtextextended('changes of team ' || id, 0)`;

/**
 * Locks a team until the transaction ends: a change that would cut a member off waits. Waits behind such a change that
 * waits already: it would pass the lock of a row, so that a member could put off their own removal (threats b441). No
 * deadlock comes of it: before, a transaction may lock one key, a key's name, a delivery, a gateway or a library, and
 * after it none of these.
 */
export async function holdTeam(tx: Tx, teamId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${TURN}) from teams where id = ${teamId}`.execute(tx);
  await sql`select from teams where id = ${teamId} for share`.execute(tx);
}

/**
 * Waits for all that hold a team, and keeps later ones waiting until the transaction ends. Call it for a change of the
 * team itself, before anything of the team is locked.
 *
 * @param which SQL condition that selects the team
 */
export async function outwaitHolders(tx: Tx, which: RawBuilder<unknown>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${TURN}) from teams where ${which}`.execute(tx);
}
