import { API_CLUSTER } from "../../domain/api-cluster.ts";
import type { ClusterNames } from "../../store/objects/cluster-names.ts";
import type { StoredObject } from "../../store/objects/objects.ts";
import { type Content, type Html, html } from "../pages/html.ts";

/** Characters of an id that tell two clusters of one name apart. */
const ID_LENGTH = 8;

/**
 * In which cluster something is declared: nothing where there is one alone, else by the cluster's name, kept apart from
 * the text around it, or by its id where it has none.
 */
export function inCluster(names: ClusterNames, cluster: string): Html | string {
  if (names.size === 0 || (names.size === 1 && names.has(cluster))) return "";
  const name = names.get(cluster) ?? null;
  if (name === null) return html` in <code>${cluster}</code>`;
  const isShared = [...names].some(([other, of]) => other !== cluster && of === name);
  return html` in <bdi>${name}</bdi>${isShared && html` (<code>${cluster.slice(0, ID_LENGTH)}</code>)`}`;
}

/** Where something is declared, in a list: a badge that breaks between words alone. */
export function placeBadge(place: Content): Html {
  return html`<i class="place">${place}</i>`;
}

/** Where a team, a library or a gateway is declared. */
export function declarationPlace(
  { cluster, namespace, name }: Pick<StoredObject, "cluster" | "namespace" | "name">,
  clusters: ClusterNames,
): Html | string {
  if (cluster === API_CLUSTER) return "API";
  return html`${namespace === "" ? name : `${namespace}/${name}`}${inCluster(clusters, cluster)}`;
}
