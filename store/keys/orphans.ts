import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/change.ts";

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
export type Orphans = { readonly orphans: readonly Orphan[]; readonly total: number };

/**
 * Finds the orphans of a table.
 *
 * @param living what is in service, of `declared`
 * @param namespaces those that this controller serves, or null for the whole cluster
 * @param presentUids of every declaration of the kind that a complete list has
 */
export async function findOrphans(
  db: Db,
  table: "keys" | "gateways" | "libraries" | "teams",
  living: RawBuilder<unknown>,
  cluster: string,
  namespaces: readonly string[] | null,
  presentUids: readonly string[],
): Promise<Orphans> {
  const namespace = table === "teams" ? sql`''` : sql`declared.namespace`;
  const { rows } = await sql<OrphanRow & { total: number }>`
    with scope as (
      select declared.id, ${namespace} as namespace, declared.name, declared.owner_uid,
        extract(epoch from clock_timestamp() - declared.created_at)::float8 * 1000 as age_ms, present.uid is null as orphaned
      from ${sql.table(table)} declared
      left join (select distinct uid from unnest(${presentUids}::text[]) as given (uid)) present
        on present.uid = declared.owner_uid
      where declared.cluster = ${cluster} and declared.owner_uid is not null and ${living}
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
