import { type RawBuilder, sql } from "kysely";
import { change, type Db, type Fence } from "../database/change.ts";
import type { Store } from "../database/store.ts";

/** Names of all clusters that a controller has led, by their ids; null for a cluster without a name. */
export type ClusterNames = ReadonlyMap<string, string | null>;

/**
 * Stores the name of a cluster. Its leader calls this, and names only its own cluster. A name that is stored already is
 * not written.
 *
 * @throws StaleLeaderError if another leader has taken over
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

/** Cluster that a controller has led, with its name. */
export type ClusterName = { readonly cluster: string; readonly name: string | null };

/** Query for all clusters that a controller has led, which may be part of a statement. */
export const clusterNameRows: RawBuilder<ClusterName> = sql`
  select led.cluster, named.name
  from (select distinct split_part(cluster, '/', 1) as cluster from leaders) led
  left join cluster_names named on named.cluster = led.cluster`;

/** Reads the names of all clusters. */
export async function clusterNames(db: Db): Promise<ClusterNames> {
  return namesByCluster((await clusterNameRows.execute(db)).rows);
}

/** Converts rows of {@link clusterNameRows} to a map. */
export function namesByCluster(rows: readonly ClusterName[]): ClusterNames {
  return new Map(rows.map(({ cluster, name }) => [cluster, name]));
}
