import { sql } from "kysely";
import type { Store } from "../../store/database/store.ts";
import { withoutIndexes } from "./without-indexes.ts";

/** The moment of the last event. */
export const LOGGED_UNTIL = Date.UTC(2026, 10, 14, 12);

const AT_ONCE = 2_000;

/**
 * Fills an audit log, ten events a minute, the last of them now, of teams in turn; one in a thousand is by a rare actor,
 * one in 250 a revocation, one in a hundred of a gateway; of 3,000 keys and 30 gateways. None of them is in the log's feed.
 */
export async function fillWithAudit({ db }: Store, count: number, teams = 10): Promise<void> {
  // Statistics are there once a test asks for them, and not before.
  await sql`alter table audit_events set (autovacuum_enabled = false)`.execute(db);
  await withoutIndexes(db, ["audit_events_terms"], async () => {
    for (let from = 1; from <= count; from += AT_ONCE) {
      await addEvents(db, { from, to: Math.min(from + AT_ONCE - 1, count), count, teams });
    }
  });
}

type Events = { readonly from: number; readonly to: number; readonly count: number; readonly teams: number };

async function addEvents(db: Store["db"], { from, to, count, teams }: Events): Promise<void> {
  const until = new Date(LOGGED_UNTIL);
  await db.transaction().execute(async (tx) => {
    // To give each event its place in the feed takes many times what its insertion does.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`insert into audit_events (at, kind, key_id, team_id, actor, detail)
      select ${until}::timestamptz - ((${count}::integer - i) / 10 + 1) * interval '1 minute',
        case when i % 100 = 7 then 'gateway.changed' when i % 250 = 1 then 'key.revoked' else 'key.activated' end,
        case when i % 100 = 7 then null else 'key_' || i % 3000 end, 'team_' || i % ${teams}::integer,
        case when i % 1000 = 1 then 'https://issuer#rare' else 'controller' end,
        case when i % 100 = 7 then jsonb_build_object('id', 'gw_' || i % 3000, 'name', 'gateway-' || i % 3000)
          else '{"version": 1}' end
      from generate_series(${from}::integer, ${to}::integer) i`.execute(tx);
  });
}
