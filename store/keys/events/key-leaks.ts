import { sql } from "kysely";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { LeakAction } from "../../../domain/key/stored/leak.ts";
import { type Author, appendAudit } from "../../audit/audit.ts";
import type { Db, Tx } from "../../database/change.ts";
import { fromDigest, toDigest } from "../../database/digest.ts";
import { DATABASE_NOW, toMs } from "../../database/times.ts";

/** Reporters of a leak: a member of the team or the installation, GitHub by its signature, or an unknown person. */
export const LEAK_REPORTERS = ["member", "github", "anonymous"] as const;
export type LeakReporter = (typeof LEAK_REPORTERS)[number];

/** Secret that the store knows: its key and version, and what its team wants done when it leaks. */
export type FoundSecret = Pick<
  KeyRecord,
  "keyId" | "version" | "teamId" | "namespace" | "teamHoldsNamespace" | "state" | "versionState" | "expiresAt"
> & {
  /** SHA-256 of the full key as 32 latin1 characters. */
  readonly digest: string;
  readonly prefix: string;
  readonly name: string;
  readonly team: string;
  readonly leakAction: LeakAction;
  /** Time of the first report, in milliseconds since the epoch; null if it was never reported. */
  readonly leakedAt: number | null;
};

/** Finds the secrets with these digests, in any order, including secrets that ended long ago. */
export async function findSecrets(db: Db, digests: readonly string[]): Promise<FoundSecret[]> {
  if (digests.length === 0) return [];
  const { rows } = await sql<
    Omit<FoundSecret, "digest" | "leakedAt" | "expiresAt"> & {
      digest: Uint8Array;
      leakedAt: Date | null;
      expiresMs: number | null;
    }
  >`
    select r.digest, r.key_id as "keyId", r.version, r.prefix, r.team_id as "teamId", r.namespace, k.name,
      t.name as team, t.leak_action as "leakAction", k.state, r.version_state as "versionState",
      r.team_holds_namespace as "teamHoldsNamespace", r.expires_ms as "expiresMs",
      l.first_reported_at as "leakedAt"
    from key_records r join keys k on k.id = r.key_id join teams t on t.id = r.team_id
    left join key_leaks l on l.key_id = r.key_id and l.version = r.version
    where r.digest in (${sql.join(digests.map(toDigest))})`.execute(db);
  return rows.map(({ digest, expiresMs, leakedAt, ...secret }) => ({
    ...secret,
    digest: fromDigest(digest),
    expiresAt: expiresMs ?? Number.POSITIVE_INFINITY,
    leakedAt: toMs(leakedAt),
  }));
}

/** Leak report as it is stored: of what was sent, only the URL at which GitHub found the secret is kept. */
export type LeakReport = {
  readonly reporter: LeakReporter;
  readonly by: Author;
  /** URL without query and credentials. */
  readonly url?: string | undefined;
};

/**
 * Records that a version of a key has leaked. This is the one place that records a leak, in the transaction of the
 * reaction to it. The audit log and the webhooks get it once; a repeated report updates its time, once a minute at
 * most.
 *
 * @returns true if the leak was not known before
 */
export async function recordLeak(
  tx: Tx,
  { keyId, version, teamId, prefix }: FoundSecret,
  { reporter, by, url }: LeakReport,
): Promise<boolean> {
  const { rows } = await sql<{ isNew: boolean }>`
    insert into key_leaks (key_id, version, reporter, first_reported_at, last_reported_at)
    values (${keyId}, ${version}, ${reporter}, ${DATABASE_NOW}, ${DATABASE_NOW})
    on conflict (key_id, version) do update set last_reported_at = excluded.last_reported_at
      where key_leaks.last_reported_at < excluded.last_reported_at - interval '1 minute'
    returning xmax = 0 as "isNew"`.execute(tx);
  if (rows[0]?.isNew !== true) return false;
  const detail = { version, prefix, reporter, ...(url === undefined ? {} : { url }) };
  await appendAudit(tx, [{ at: null, kind: "key.leaked", keyId, teamId, by, detail }]);
  return true;
}

/** Key that works although one of its versions was reported as leaked. */
export type LivingLeak = {
  readonly namespace: string;
  readonly name: string;
  readonly keyId: string;
  readonly team: { readonly id: string; readonly name: string };
  /** Time of the first report, in milliseconds since the epoch. */
  readonly reportedAt: number;
};

/** Lists the keys with a leak report for a version that still works, each key once. */
export async function livingLeaks(db: Db): Promise<LivingLeak[]> {
  const { rows } = await sql<Omit<LivingLeak, "reportedAt"> & { reportedAt: Date }>`
    select k.namespace, k.name, k.id as "keyId", json_build_object('id', t.id, 'name', t.name) as team,
      min(l.first_reported_at) as "reportedAt"
    from key_leaks l join key_records r on r.key_id = l.key_id and r.version = l.version
    join keys k on k.id = l.key_id join teams t on t.id = r.team_id
    where k.state = 'active' and r.version_state in ('reserved', 'active', 'retiring')
      and (r.expires_ms is null or r.expires_ms > extract(epoch from ${DATABASE_NOW}) * 1000)
    group by k.id, t.id order by k.namespace, k.name, k.id`.execute(db);
  return rows.map(({ reportedAt, ...leak }) => ({ ...leak, reportedAt: toMs(reportedAt) }));
}
