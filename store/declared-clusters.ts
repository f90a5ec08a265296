import { sql } from "kysely";
import { API_CLUSTER } from "../domain/api-cluster.ts";
import type { Db } from "./database/change.ts";

/** Cluster with declarations that have living rows in the database. */
export type DeclaredCluster = { readonly cluster: string; readonly keys: number };

/** Lists the clusters with declared objects, so without what the management API made. */
export async function declaredClusters(db: Db): Promise<DeclaredCluster[]> {
  const { rows } = await sql<DeclaredCluster>`
    select cluster, sum(keys)::integer as keys from (
      select cluster, count(*) as keys from keys where state <> 'revoked' group by cluster
      union all select distinct cluster, 0 from teams where state = 'active'
      union all select distinct cluster, 0 from gateways where state = 'active'
      union all select distinct cluster, 0 from libraries where state = 'active'
    ) living where cluster <> ${API_CLUSTER} group by cluster order by keys desc, cluster`.execute(db);
  return rows;
}
