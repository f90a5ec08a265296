import { namespaceHolders } from "../store/teams/teams.ts";
import type { ControllerDeps } from "./context/deps.ts";

/**
 * How soon a controller notices a claim that another controller of its cluster has stored: no watch reports it, since
 * only the controller that stores it first sees the namespace move. Milliseconds.
 */
export const MOVED_INTERVAL_MS = 5_000;

/**
 * Makes a query for the namespaces that have another team than at the query before. The first returns none: all that is
 * declared is looked at then anyway.
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
