import { type RawBuilder, sql } from "kysely";
import { isClusterScoped, type Kind } from "../domain/kinds/kinds.ts";
import type { Db } from "./database/change.ts";

/** Object that belongs to a declaration which no longer exists. */
export type Orphan = {
  readonly id: string;
  /** Namespace; empty for a team. */
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string;
  /** True for a key whose recorded declaration has `deletionPolicy: Retain`, unless another team has the namespace. */
  readonly isRetained: boolean;
  /** Age in milliseconds by the database's clock. An object younger than the list of declarations is not an orphan. */
  readonly ageMs: number;
};

/** Orphans of one kind, and the number of objects of that kind, which the deletion limit goes by (threats c13). */
type Orphans = { readonly orphans: readonly Orphan[]; readonly total: number };

/** Complete list of the declarations of one kind. */
type DeclarationList = {
  readonly cluster: string;
  /** Namespaces that the list covers, or null for the whole cluster. It always covers objects without a namespace. */
  readonly namespaces: readonly string[] | null;
  readonly uids: readonly string[];
};

/** Kinds whose declarations have rows here. A policy is not among them: its declaration itself is asked. */
export type StoredKind = Exclude<Kind, "PlatformKeyPolicy">;

/** Table of each kind, and the SQL condition that a row is in service. */
const STORED: Readonly<Record<StoredKind, StoredTable>> = {
  PlatformKey: {
    table: "keys",
    inService: sql`declared.state <> 'revoked'`,
    isRetained: sql`exists (select from key_declarations recorded where recorded.key_id = declared.id
      and recorded.owner_uid = declared.owner_uid and recorded.spec ->> 'deletionPolicy' = 'Retain')
      and not exists (select from team_namespaces held where held.cluster = declared.cluster
        and held.namespace = declared.namespace and held.team_id <> declared.team_id)
      and not exists (select from teams owner where owner.id = declared.team_id and owner.state = 'active'
        and not exists (select from team_namespaces held where held.cluster = declared.cluster
          and held.namespace = declared.namespace and held.team_id = owner.id))`,
  },
  PlatformTeam: { table: "teams", inService: sql`declared.state = 'active'` },
  ModelGateway: { table: "gateways", inService: sql`declared.state = 'active'` },
  MemoryLibrary: { table: "libraries", inService: sql`declared.state = 'active'` },
};

type StoredTable = {
  readonly table: string;
  readonly inService: RawBuilder<unknown>;
  /** Condition that the object is to outlive its declaration; left out for a kind that never does. */
  readonly isRetained?: RawBuilder<unknown>;
};

/** Finds objects in service whose declaration is missing in the list, although the list should have it. */
export async function findOrphans(db: Db, kind: StoredKind, list: DeclarationList): Promise<Orphans> {
  const { table, inService, isRetained = sql`false` } = STORED[kind];
  const namespace = isClusterScoped(kind) ? sql`''` : sql`declared.namespace`;
  const namespaces = isClusterScoped(kind) ? null : list.namespaces;
  const { rows } = await sql<OrphanRow & { total: number }>`
    with scope as (
      select declared.id, ${namespace} as namespace, declared.name, declared.owner_uid,
        present.uid is null and ${isRetained} as retained,
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

/** Row of the query. All columns are null if there is no orphan. */
type OrphanRow = {
  id: string;
  namespace: string;
  name: string;
  owner_uid: string;
  retained: boolean;
  age_ms: number;
};

function toOrphan({ id, namespace, name, owner_uid, retained, age_ms }: OrphanRow): Orphan {
  return { id, namespace, name, ownerUid: owner_uid, isRetained: retained, ageMs: age_ms };
}
