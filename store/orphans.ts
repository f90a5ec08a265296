import { type RawBuilder, sql } from "kysely";
import { isClusterScoped, type Kind } from "../domain/manifest/kinds.ts";
import type { Db, Tx } from "./database/change.ts";

/** What a declaration owns although there is no such declaration any longer. */
export type Orphan = {
  readonly id: string;
  /** Empty for a team. */
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string;
  /** By the database's clock: an orphan younger than the list of declarations is none. Milliseconds. */
  readonly ageMs: number;
  /** How long ago the cluster said of its declaration that it is gone; null where it has not. Milliseconds. */
  readonly goneForMs: number | null;
};

/** How long that counts for a leader who comes after the one who was told. Milliseconds. */
const KEPT_MS = 300_000;

/** The orphans of one kind, and how much of it there is: what the deletion limit is measured against (threats c13). */
type Orphans = { readonly orphans: readonly Orphan[]; readonly total: number };

/** A complete list of the declarations of one kind. */
type DeclarationList = {
  readonly cluster: string;
  /** Those that it covers, or null for the whole cluster; what has no namespace is covered all the same. */
  readonly namespaces: readonly string[] | null;
  readonly uids: readonly string[];
};

/** Where what is declared is stored, and which of it is in service. */
const STORED: Readonly<Record<Kind, { readonly table: string; readonly inService: RawBuilder<unknown> }>> = {
  PlatformKey: { table: "keys", inService: sql`declared.state <> 'revoked'` },
  PlatformTeam: { table: "teams", inService: sql`declared.state = 'active'` },
  ModelGateway: { table: "gateways", inService: sql`declared.state = 'active'` },
  MemoryLibrary: { table: "libraries", inService: sql`declared.state = 'active'` },
};

/** Finds what is in service for a declaration of the kind that the list should have, and has not. */
export async function findOrphans(db: Db, kind: Kind, list: DeclarationList): Promise<Orphans> {
  const { table, inService } = STORED[kind];
  const namespace = isClusterScoped(kind) ? sql`''` : sql`declared.namespace`;
  const namespaces = isClusterScoped(kind) ? null : list.namespaces;
  const { rows } = await sql<OrphanRow & { total: number }>`
    with scope as (
      select declared.id, ${namespace} as namespace, declared.name, declared.owner_uid,
        ${msSince("declared.created_at")} as age_ms, ${msSince("told.gone_at")} as gone_for_ms,
        present.uid is null as orphaned
      from ${sql.table(table)} declared
      left join (select distinct uid from unnest(${list.uids}::text[]) as given (uid)) present
        on present.uid = declared.owner_uid
      left join gone_declarations told on told.cluster = declared.cluster and told.owner_uid = declared.owner_uid
        and told.gone_at > clock_timestamp() - ${`${KEPT_MS} ms`}::interval
      where declared.cluster = ${list.cluster} and declared.owner_uid is not null and ${inService}
        and (${namespaces}::text[] is null or ${namespace} = any(${namespaces}::text[]))
    )
    select counted.total, orphan.* from (select count(*)::int as total from scope) counted
    left join scope orphan on orphan.orphaned
    order by orphan.id`.execute(db);
  return { orphans: rows.filter(({ id }) => id !== null).map(toOrphan), total: rows[0]?.total ?? 0 };
}

/** All null where there is no orphan. */
type OrphanRow = {
  id: string;
  namespace: string;
  name: string;
  owner_uid: string;
  age_ms: number;
  gone_for_ms: number | null;
};

function toOrphan({ id, namespace, name, owner_uid, age_ms, gone_for_ms }: OrphanRow): Orphan {
  return { id, namespace, name, ownerUid: owner_uid, ageMs: age_ms, goneForMs: gone_for_ms };
}

function msSince(time: string): RawBuilder<number> {
  return sql`extract(epoch from clock_timestamp() - ${sql.ref(time)})::float8 * 1000`;
}

/** Keeps for the next leader that the cluster has said of a declaration, now, that it is gone. */
export async function keepGone(tx: Tx, cluster: string, { ownerUid }: Pick<Orphan, "ownerUid">): Promise<void> {
  await sql`insert into gone_declarations (cluster, owner_uid) values (${cluster}, ${ownerUid})
    on conflict (cluster, owner_uid) do update set gone_at = excluded.gone_at`.execute(tx);
}

/** Forgets what was kept of declarations that are there after all or have ended, and what counts no longer. */
export async function forgetGone(tx: Tx, cluster: string, { ownerUid }: Pick<Orphan, "ownerUid">): Promise<void> {
  await sql`delete from gone_declarations where cluster = ${cluster} and (owner_uid = ${ownerUid}
    or gone_at <= clock_timestamp() - ${`${KEPT_MS} ms`}::interval)`.execute(tx);
}
