import { sql } from "kysely";
import type { Store } from "../../../../store/database/store.ts";
import { withoutIndexes } from "../../without-indexes.ts";

/** When the keys below are looked at. */
export const LOOKED_AT = Date.UTC(2026, 10, 14, 12);
/** One in so many keys is of each kind. */
export const ONE_IN = { rareName: 1_000, revoked: 2, expired: 500, suspended: 250, ownTeam: 10 } as const;

/**
 * Fills a store with keys, quicker than by making them: each has an active version that was used, and a Secret. Of the `i`th, the name holds `i` and
 * what it is for; which of them are what, {@link ONE_IN} says, by the remainder 1. Statistics are there once a test asks
 * for them, and not before.
 *
 * @param teams how many teams they are spread over
 */
export async function fillWithKeys({ db }: Store, count: number, teams: number = ONE_IN.ownTeam): Promise<void> {
  await sql`alter table keys set (autovacuum_enabled = false)`.execute(db);
  await sql`insert into teams (id, cluster, name, display_name, state, generation)
    select 'team_' || t, 'c1', 'team-' || t, 'Team ' || t, 'active', 1 from generate_series(0, 9) t`.execute(db);
  await withoutIndexes(db, ["keys_terms", "keys_display_terms"], async () => {
    for (let from = 1; from <= count; from += AT_ONCE) {
      await addKeys(db, { from, to: Math.min(from + AT_ONCE - 1, count), teams });
    }
  });
}

const AT_ONCE = 2_000;

type Numbers = { readonly from: number; readonly to: number; readonly teams: number };

async function addKeys(db: Store["db"], { from, to, teams }: Numbers): Promise<void> {
  const looked = new Date(LOOKED_AT);
  const every = (n: number) => sql`i % ${sql.lit(n)} = 1`;
  await db.transaction().execute(async (tx) => {
    // What triggers do is done here, for all at once.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`insert into keys (id, cluster, namespace, name, owner_uid, team_id, source, state, display_name, scopes,
        gateway_bound, library_mode, generation, created_at, expires_at, ends_at)
      select 'key_' || translate(md5(i::text), '0189', 'wxyz'), 'c1', '',
        case when ${every(ONE_IN.rareName)} then 'billing-' else 'service-' end || 'reader-' || i, 'uid-' || i,
        'team_' || i % ${sql.lit(teams)}, 'Generate',
        case when ${every(ONE_IN.suspended)} then 'suspended' when i % ${sql.lit(ONE_IN.revoked)} = 0 then 'revoked'
          else 'active' end,
        'Key ' || i, '{memory:read}', false, 'all', 1, ${looked}::timestamptz - i * interval '1 minute',
        nullif(ends_at, 'infinity'), ends_at
      from generate_series(${from}::integer, ${to}::integer) i cross join lateral (
        select case when ${every(ONE_IN.expired)} then ${looked}::timestamptz - interval '1 hour'
          else 'infinity' end as ends_at) ends`.execute(tx);
    const made = sql`keys where substr(owner_uid, 5)::integer between ${from}::integer and ${to}::integer`;
    await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at)
      select id, 1, sha256(id::bytea), 'inf_' || substr(id, 5, 8), case state when 'revoked' then state else 'active' end,
        'minted', created_at from ${made}`.execute(tx);
    await sql`insert into key_last_uses (key_id, team_id, used_at) select id, team_id, created_at from ${made}`.execute(
      tx,
    );
    await sql`insert into key_usage (key_id, version, last_used_at) select id, 1, created_at from ${made}`.execute(tx);
    await sql`insert into key_secrets (key_id, resource_version, number, content, marks)
      select id, '1', 1, '', '{}' from ${made}`.execute(tx);
  });
}
