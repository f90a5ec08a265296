import { reachedBudgets } from "../../store/budgets/reached-budgets.ts";
import type { ObjectRef } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";

/**
 * Milliseconds by which a look overlaps the look before: a report that was begun earlier may be stored later.
 */
const OVERLAP_MS = 5_000;

const KINDS = { key: "PlatformKey", team: "PlatformTeam", policy: "PlatformKeyPolicy" } as const;

/**
 * Makes a query for the keys, teams and policies of which a budget has come to be used to a threshold since the query
 * before. The first one returns none: all declarations are looked at as a controller begins.
 */
export function watchReachedBudgets({
  cluster,
  store,
}: ControllerDeps): () => Promise<ObjectRef<(typeof KINDS)[keyof typeof KINDS]>[]> {
  let lookedAt: number | undefined;
  return async () => {
    const since = lookedAt === undefined ? null : lookedAt - OVERLAP_MS;
    const { now, owners } = await reachedBudgets(store.db, cluster.uid, since);
    lookedAt = now;
    return owners.map(({ of, ...name }) => ({ kind: KINDS[of], ...name }));
  };
}
