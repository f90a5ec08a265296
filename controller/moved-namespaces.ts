import { namespaceHolders } from "../store/teams.ts";
import type { ControllerDeps } from "./deps.ts";

/**
 * How soon a controller notices a claim that another one of its cluster has stored: no watch tells of it, since the one
 * that stores it first is the only one to see the namespace move. Milliseconds.
 */
export const MOVED_INTERVAL_MS = 5_000;

/**
 * Makes a question: which namespaces have another team than when it was asked before? The first time none: all that is
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
