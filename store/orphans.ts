import { type RawBuilder, sql } from "kysely";
import { isClusterScoped, type Kind } from "../domain/kinds/kinds.ts";
import type { Db } from "./database/change.ts";

/** What a declaration owns although there is no such declaration any longer. */
export type Orphan = {
  readonly id: string;
  /** Empty for a team. */
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string;
  /** By the database's clock: an orphan younger than the list of declarations is none. Milliseconds. */
  readonly ageMs: number;
};

/** The orphans of one kind, and how much of it there is: what the deletion limit is measured against (threats c13). */
type Orphans = { readonly orphans: readonly Orphan[]; readonly total: number };

/** A complete list of the declarations of one kind. */
type DeclarationList = {
  readonly cluster: string;
  /** Those that it covers, or null for the whole cluster; what has no namespace is covered all the same. */
  readonly namespaces: readonly string[] | null;
  readonly uids: readonly string[];
};

/** The kinds whose declarations have rows; what a policy asks is asked by its declaration. */
export type StoredKind = Exclude<Kind, "PlatformKeyPolicy">;

/** Where what is declared is stored, and which of it is in service. */
const STORED: Readonly<Record<StoredKind, { readonly table: string; readonly inService: RawBuilder<unknown> }>> = {
  PlatformKey: { table: "keys", inService: sql`declared.state <> 'revoked'` },
  PlatformTeam: { table: "teams", inService: sql`declared.state = 'active'` },
  ModelGateway: { table: "gateways", inService: sql`declared.state = 'active'` },
  MemoryLibrary: { table: "libraries", inService: sql`declared.state = 'active'` },
};

/** Finds what is in service for a declaration of the kind that the list should have, and has not. */
export async function findOrphans(db: Db, kind: StoredKind, list: DeclarationList): Promise<Orphans> {
  const { table, inService } = STORED[kind];
  const namespace = isClusterScoped(kind) ? sql`''` : sql`declared.namespace`;
  const namespaces = isClusterScoped(kind) ? null : list.namespaces;
  const { rows } = await sql<OrphanRow & { total: number }>`
    with scope as (
      select declared.id, ${namespace} as namespace, declared.name, declared.owner_uid,
        extract(epoch from clock_timestamp() - declared.created_at)::float8 * 1000 as age_ms, present.uid is null as orphaned
      from ${sql.table(table)} declared
      left join (select distinct uid from unnest(${list.uids}::text[]) as given (uid)) present
        on present.uid = declared.owner_uid
      where declared.cluster = ${list.cluster} and declared.owner_uid is not null and ${inService}
        and (${namespaces}::text[] is null or ${namespace} = any(${namespaces}::text[]))
    )
    select counted.total, orphan.* from (select count(*)::int as total from scope) counted
    left join scope orphan on orphan.orphaned
    order by orphan.id`.execute(db);
  return { orphans: rows.filter(({ id }) => id !== null).map(toOrphan), total: rows[0]?.total ?? 0 };
}

/** All null where there is no orphan. */
type OrphanRow = { id: string; namespace: string; name: string; owner_uid: string; age_ms: number };

function toOrphan({ id, namespace, name, owner_uid, age_ms }: OrphanRow): Orphan {
  return { id, namespace, name, ownerUid: owner_uid, ageMs: age_ms };
}
