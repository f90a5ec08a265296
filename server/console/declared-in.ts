import { API_CLUSTER } from "../../domain/api-cluster.ts";
import type { ClusterNames } from "../../store/objects/cluster-names.ts";
import type { StoredObject } from "../../store/objects/objects.ts";
import { type Content, type Html, html } from "../pages/html.ts";

/** Characters of an id that tell apart two clusters of the same name. */
const ID_LENGTH = 8;

/**
 * Names the cluster that something is declared in, isolated from the direction of the text around it, or gives its id
 * if it has no name. Empty if there is only one cluster.
 */
export function inCluster(names: ClusterNames, cluster: string): Html | string {
  if (names.size === 0 || (names.size === 1 && names.has(cluster))) return "";
  const name = names.get(cluster) ?? null;
  if (name === null) return html` in <code>${cluster}</code>`;
  const isShared = [...names].some(([other, of]) => other !== cluster && of === name);
  return html` in <bdi>${name}</bdi>${isShared && html` (<code>${cluster.slice(0, ID_LENGTH)}</code>)`}`;
}

/** Shows in a list where something is declared, as a badge that breaks only between words. */
export function locationBadge(location: Content): Html {
  return html`<i class="place">${location}</i>`;
}

/** Names the place where a team, a library or a gateway is declared. */
export function declarationLocation(
  { cluster, namespace, name }: Pick<StoredObject, "cluster" | "namespace" | "name">,
  clusters: ClusterNames,
): Html | string {
  if (cluster === API_CLUSTER) return "API";
  return html`${namespace === "" ? name : `${namespace}/${name}`}${inCluster(clusters, cluster)}`;
}
