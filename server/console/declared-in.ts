import { API_CLUSTER } from "../../domain/api-cluster.ts";
import type { StoredObject } from "../../store/objects/objects.ts";

/** Where a team, a library or a gateway is declared. */
export function declarationPlace({
  cluster,
  namespace,
  name,
}: Pick<StoredObject, "cluster" | "namespace" | "name">): string {
  return cluster === API_CLUSTER ? "API" : `${namespace === "" ? name : `${namespace}/${name}`} in ${cluster}`;
}
