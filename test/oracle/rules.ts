/** What must hold in the store at any moment, each as a question that finds nothing. */
import { type RawBuilder, sql } from "kysely";
import type { Store } from "../../store/database/store.ts";
import type { Takeover } from "./leaderships.ts";
import { everDeclared, type Model } from "./model.ts";
import type { Report } from "./report.ts";

export type RuleBreach = { readonly subject: string; readonly what: string };
type Rule = { readonly rule: string; readonly finds: RawBuilder<RuleBreach> };

const KEY = sql`k.namespace || '/' || k.name`;

const RULES: readonly Rule[] = [
  {
    rule: "I1",
    finds: sql`select ${KEY} as subject, count(*) || ' active versions' as what
      from key_versions v join keys k on k.id = v.key_id where v.state = 'active' group by k.id having count(*) > 1`,
  },
  {
    rule: "I1",
    finds: sql`select ${KEY} as subject, count(*) || ' retiring versions' as what
      from key_versions v join keys k on k.id = v.key_id where v.state = 'retiring' group by k.id having count(*) > 4`,
  },
  {
    rule: "I2",
    finds: sql`select ${KEY} as subject, 'version ' || v.number || ' retires without a successor' as what
      from key_versions v join keys k on k.id = v.key_id
      where v.state in ('retiring', 'retired') and k.state <> 'revoked'
        and not exists (select from key_versions a where a.key_id = k.id and a.state = 'active')`,
  },
  {
    rule: "I5",
    finds: sql`select ${KEY} as subject, 'version ' || v.number || ' of a revoked key is ' || v.state as what
      from key_versions v join keys k on k.id = v.key_id
      where k.state = 'revoked' and v.state in ('reserved', 'active', 'retiring')`,
  },
  {
    rule: "I5",
    finds: sql`select ${KEY} as subject, 'a revocation has no receipt' as what
      from keys k where k.state = 'revoked' and (k.revoked_seq is null or k.revoked_at is null)`,
  },
  {
    rule: "one key a declaration",
    finds: sql`select min(${KEY}) as subject, count(*) || ' living keys of one owner' as what
      from keys k where k.state <> 'revoked' and k.owner_uid is not null group by k.owner_uid having count(*) > 1`,
  },
  {
    rule: "the feed",
    finds: sql`select 'feed' as subject, 'its head is not its last change' as what
      from feed where head <> coalesce((select max(seq) from changes), 0)`,
  },
];

/** Puts every question to the store, in one snapshot each. */
export async function checkRules(store: Store, report: Report): Promise<void> {
  for (const { rule, finds } of RULES) {
    const { rows } = await finds.execute(store.db);
    for (const found of rows) report.violation({ rule, ...found });
  }
}

/** Values that were written into a Secret by hand, and that became keys (I3). */
export async function checkPlanted(store: Store, digests: ReadonlyMap<string, string>, report: Report): Promise<void> {
  const { rows } = await sql<{ digest: string }>`select encode(digest, 'hex') as digest from key_versions
    where encode(digest, 'hex') = any(${[...digests.keys()]}::text[])`.execute(store.db);
  for (const { digest } of rows) {
    report.violation({ rule: "I3", subject: digests.get(digest) ?? "", what: "a value written by hand became a key" });
  }
}

/** Values that a Secret has held, and that were voided: what may have been read ends by its overlap (I2, threats c66). */
export async function checkVoided(store: Store, digests: ReadonlyMap<string, string>, report: Report): Promise<void> {
  const { rows } = await sql<{ digest: string }>`select encode(digest, 'hex') as digest from key_versions
    where state = 'voided' and encode(digest, 'hex') = any(${[...digests.keys()]}::text[])`.execute(store.db);
  for (const { digest } of rows) {
    report.violation({ rule: "I2", subject: digests.get(digest) ?? "", what: "a value that a Secret held was voided" });
  }
}

/** The living keys of declarations that are no longer there (I6). */
export async function livingKeysOf(store: Store, ownerUids: readonly string[]): Promise<RuleBreach[]> {
  const { rows } = await sql<RuleBreach>`
    select ${KEY} as subject, 'its declaration is gone and its key lives' as what
    from keys k where k.owner_uid = any(${ownerUids}::text[]) and k.state <> 'revoked'`.execute(store.db);
  return rows;
}

/** The living keys of declarations that are none of these (I6). */
export async function strayKeys(store: Store, ownerUids: readonly string[]): Promise<RuleBreach[]> {
  const { rows } = await sql<RuleBreach>`
    select ${KEY} as subject, 'its declaration is gone and its key lives' as what
    from keys k where k.owner_uid <> all(${ownerUids}::text[]) and k.state <> 'revoked'`.execute(store.db);
  return rows;
}

/** A version of ours that a declaration's key had. Times are milliseconds since the epoch. */
export type MintedVersion = {
  readonly uid: string;
  readonly delivered: boolean;
  readonly mintedAt: number;
  /** When the version after it was minted; null where it is the last. */
  readonly succeededAt: number | null;
};

export async function mintedVersions(store: Store): Promise<MintedVersion[]> {
  const { rows } = await sql<MintedVersion>`
    select k.owner_uid as uid, v.activated_at is not null as delivered,
      (extract(epoch from v.minted_at) * 1000)::float8 as "mintedAt",
      (extract(epoch from lead(v.minted_at) over (partition by k.id order by v.number)) * 1000)::float8 as "succeededAt"
    from key_versions v join keys k on k.id = v.key_id
    where v.source_kind = 'minted' and k.owner_uid is not null`.execute(store.db);
  return rows;
}

export type MintedCounts = { readonly delivered: number; readonly minted: number };

/**
 * How many secrets each declaration has had delivered, and how many minted, over all its keys. Of the minted ones those
 * do not count that were lost with the leader who knew them alone: never delivered, and another led before the next one
 * was minted.
 */
export function countByOwner(
  versions: readonly MintedVersion[],
  takeovers: readonly Takeover[],
): ReadonlyMap<string, MintedCounts> {
  const isLost = ({ delivered, mintedAt, succeededAt }: MintedVersion) =>
    !delivered &&
    succeededAt !== null &&
    takeovers.some(({ after, before }) => after <= succeededAt && mintedAt <= before);
  const byOwner = [...Map.groupBy(versions, ({ uid }) => uid)];
  return new Map(
    byOwner.map(([uid, own]) => [
      uid,
      { delivered: own.filter(({ delivered }) => delivered).length, minted: own.filter((one) => !isLost(one)).length },
    ]),
  );
}

/** The declarations by whose deletion a key was revoked. */
export async function ownersOfDeleted(store: Store): Promise<Set<string>> {
  const { rows } = await sql<{ uid: string }>`select owner_uid as uid from keys
    where revocation_reason = 'Deleted' and owner_uid is not null`.execute(store.db);
  return new Set(rows.map(({ uid }) => uid));
}

/** Keys that were revoked with declarations that say that theirs live on, or are protected (spec §6.4). */
export async function checkKept(store: Store, model: Model, report: Report): Promise<void> {
  const revoked = await ownersOfDeleted(store);
  for (const one of everDeclared(model)) {
    const isProtected = one.deleting && model.declared.get(one.title) === one;
    if (!revoked.has(one.uid ?? "") || !(isProtected || one.spec.deletionPolicy === "Retain")) continue;
    const kept = isProtected ? "deletionProtection" : "deletionPolicy: Retain";
    report.violation({ rule: "6.4", subject: one.title, what: `its key was revoked though it has ${kept}` });
  }
}

export async function countMinted(store: Store): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from key_versions
    where source_kind = 'minted'`.execute(store.db);
  return rows[0]?.count ?? 0;
}

/** Old versions that are past their deadline and have not been retired, of keys that a declaration and a team hold. */
export async function overdueVersions(store: Store): Promise<RuleBreach[]> {
  const { rows } = await sql<RuleBreach>`
    select ${KEY} as subject, 'version ' || v.number || ' is past its deadline and still retiring' as what
    from key_versions v join keys k on k.id = v.key_id
    join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace and n.team_id = k.team_id
    where v.state = 'retiring' and v.retire_at < now() and k.state <> 'revoked' and k.owner_uid is not null`.execute(
    store.db,
  );
  return rows;
}

/** How a declaration's present key was ended, where it was. */
export async function endsByOwner(store: Store): Promise<Map<string, string>> {
  const { rows } = await sql<{ uid: string; reason: string }>`select distinct on (k.owner_uid) k.owner_uid as uid,
      case when k.state = 'revoked' then k.revocation_reason else '' end as reason from keys k
    where k.owner_uid is not null
    order by k.owner_uid, (k.state = 'revoked'), (k.revocation_reason = 'Moved'), k.created_at desc`.execute(store.db);
  return new Map(rows.map(({ uid, reason }) => [uid, reason]));
}

/** The declarations whose lost or edited Secret may wait: four old versions go on. */
export async function heldBackOwners(store: Store): Promise<Set<string>> {
  const { rows } = await sql<{
    uid: string;
  }>`select k.owner_uid as uid from keys k join key_versions v on v.key_id = k.id
    where k.owner_uid is not null and k.state <> 'revoked' and v.state in ('active', 'retiring') group by k.id
    having count(*) filter (where v.state = 'retiring') = 4`.execute(store.db);
  return new Set(rows.map(({ uid }) => uid));
}
