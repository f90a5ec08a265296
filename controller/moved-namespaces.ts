import { namespaceHolders } from "../store/teams/teams.ts";
import type { ControllerDeps } from "./context/deps.ts";

/**
 * Makes a query for the namespaces that have another team than at the query before. The first query returns none: all
 * that is declared is looked at then anyway.
 */
export function watchMovedNamespaces({ cluster, store }: ControllerDeps): () => Promise<string[]> {
  let before: ReadonlyMap<string, string> | undefined;
  return async () => {
    const now = await namespaceHolders(store.db, cluster.uid);
    const last = before ?? now;
    before = now;
    return [...new Set([...last.keys(), ...now.keys()])].filter((name) => last.get(name) !== now.get(name));
  };
}
