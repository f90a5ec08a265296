import type { Cluster } from "../cluster/port.ts";

/**
 * True if a team's declaration stands without a namespace that the store may still have as the team's. Where the team is
 * deleted too, what goes with it goes as declared.
 */
export function hasGivenUp(cluster: Pick<Cluster, "get">, team: string, namespace: string): boolean {
  const declared = cluster.get("PlatformTeam", "", team);
  return declared !== undefined && !declared.deleting && !declared.spec.namespaces.includes(namespace);
}
