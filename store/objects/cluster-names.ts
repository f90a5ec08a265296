import { type RawBuilder, sql } from "kysely";
import { change, type Db, type Fence } from "../database/change.ts";
import type { Store } from "../database/store.ts";

/** Every cluster that a controller has led, by its id, with its name; null for one without. */
export type ClusterNames = ReadonlyMap<string, string | null>;

/**
 * Keeps what a cluster is called, by its leader, which names its own alone. A name that is kept already is not written.
 *
 * @throws StaleLeaderError when another leader has taken over
 */
export async function recordClusterName(store: Store, fence: Fence, name: string): Promise<void> {
  const cluster = fence.scope.split("/", 1)[0] ?? fence.scope;
  await change(store, fence, async (tx) => {
    await tx
      .insertInto("cluster_names")
      .values({ cluster, name })
      .onConflict((conflict) =>
        conflict.column("cluster").doUpdateSet({ name }).where("cluster_names.name", "<>", name),
      )
      .execute();
  });
}

/** A cluster that a controller has led. */
export type ClusterName = { readonly cluster: string; readonly name: string | null };

/** Every one of them, as a question that may be part of a statement. */
export const clusterNameRows: RawBuilder<ClusterName> = sql`
  select led.cluster, named.name
  from (select distinct split_part(cluster, '/', 1) as cluster from leaders) led
  left join cluster_names named on named.cluster = led.cluster`;

/** Reads the names of all clusters. */
export async function clusterNames(db: Db): Promise<ClusterNames> {
  return namesByCluster((await clusterNameRows.execute(db)).rows);
}

/** Rows of {@link clusterNameRows} as a map. */
export function namesByCluster(rows: readonly ClusterName[]): ClusterNames {
  return new Map(rows.map(({ cluster, name }) => [cluster, name]));
}
