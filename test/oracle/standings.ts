/** What the store says of every secret, and since when: looked up again and again, directly in PostgreSQL. */
import { sql } from "kysely";
import type { Store } from "../../store/database/store.ts";

/** What the store says of one version of a key, apart from its deadlines, which decide by themselves. */
export type Row = {
  /** SHA-256 of the secret in hex. */
  readonly digest: string;
  readonly keyId: string;
  /** Of its key's declaration; null where none has it. */
  readonly ownerUid: string | null;
  readonly version: number;
  readonly versionState: string;
  /** Minted, and its key was neither suspended nor resumed since: it was usable from its first moment on. */
  readonly usableSinceMinted: boolean;
  readonly usable: boolean;
  /** Revoked, retired or voided: for ever. */
  readonly ended: boolean;
  /** The earliest deadline, in milliseconds since the epoch; null for none. */
  readonly until: number | null;
  /** The last change of the key or its team. */
  readonly seq: number;
  /**
   * Grows with what may have had it refused between two looks: its team changes (a namespace may have left it and come
   * back), and the key is suspended or resumed.
   */
  readonly interruptions: number;
};

/** One look, and when it was begun and answered on the monotonic clock. */
export type SecretRows = { readonly beganAt: number; readonly endedAt: number; readonly rows: readonly Row[] };

/** What is known of one secret from all looks so far. Times are of the monotonic clock, in milliseconds. */
export type Standing = Row & {
  /** From when every look has found it refused, with no change in between; undefined while it is usable. */
  readonly refusedSince: number | undefined;
  /**
   * From when every look has found it usable, with no interruption in between; minus infinity where it has been so since
   * it was minted.
   */
  readonly usableSince: number | undefined;
  readonly endedSince: number | undefined;
  /** From when it has its present deadline; minus infinity where it never had another. */
  readonly untilSince: number;
};

export type Standings = ReadonlyMap<string, Standing>;

export async function lookAtSecrets(store: Store): Promise<SecretRows> {
  const beganAt = performance.now();
  const { rows } = await sql<Row>`
    with last as (select kind, ref, max(seq) as seq from changes where kind in ('key', 'team') group by kind, ref),
      switched as (select key_id, count(*) as times, max(at) as last from audit_events
        where kind = 'key.policy_updated' and detail->'changed' ? 'suspended' group by key_id)
    select encode(v.digest, 'hex') as digest, v.key_id as "keyId", k.owner_uid as "ownerUid", v.number as version,
      v.state as "versionState",
      v.source_kind = 'minted' and coalesce(switched.last < v.minted_at, true) as "usableSinceMinted",
      v.state in ('reserved', 'active', 'retiring') and k.state = 'active' and t.state = 'active'
        and (k.namespace = '' or coalesce(n.team_id = k.team_id, false)) as usable,
      k.state = 'revoked' or v.state in ('revoked', 'retired', 'voided') as ended,
      (extract(epoch from least(k.expires_at, v.expires_at, case when v.state = 'retiring' then v.retire_at end))
        * 1000)::float8 as until,
      greatest(of_key.seq, of_team.seq, 0) as seq,
      (coalesce(of_team.seq, 0) + coalesce(switched.times, 0))::float8 as interruptions
    from key_versions v
    join keys k on k.id = v.key_id
    join teams t on t.id = k.team_id
    left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
    left join last of_key on of_key.kind = 'key' and of_key.ref = k.id
    left join switched on switched.key_id = k.id
    left join last of_team on of_team.kind = 'team' and of_team.ref = k.team_id`.execute(store.db);
  return { beganAt, endedAt: performance.now(), rows };
}

/** Takes a look in. A moment is always given by the end of the look that first showed it: it was so before. */
export function takeIn(before: Standings, { endedAt, rows }: SecretRows): Standings {
  return new Map(rows.map((row) => [row.digest, standingOf(before.get(row.digest), row, endedAt)]));
}

function standingOf(before: Standing | undefined, row: Row, now: number): Standing {
  const unchanged = before?.seq === row.seq;
  return {
    ...row,
    refusedSince: row.usable ? undefined : ((unchanged ? before?.refusedSince : undefined) ?? now),
    usableSince: row.usable
      ? before === undefined && row.usableSinceMinted
        ? Number.NEGATIVE_INFINITY
        : ((before?.interruptions === row.interruptions ? before.usableSince : undefined) ?? now)
      : undefined,
    endedSince: row.ended ? (before?.endedSince ?? now) : undefined,
    untilSince: before === undefined ? Number.NEGATIVE_INFINITY : before.until === row.until ? before.untilSince : now,
  };
}
