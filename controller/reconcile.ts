import type { Kind } from "../domain/kinds/kinds.ts";
import { StaleLeaderError } from "../store/database/errors.ts";
import type { Cluster } from "./cluster/port.ts";
import { retryingStatus } from "./context/object-status.ts";
import { AT_REST, type ReconcileResult } from "./context/reconcile-result.ts";
import { reconcileGateway } from "./gateway/reconcile-gateway.ts";
import type { KeyDeps } from "./key/key-deps.ts";
import { reconcileKey } from "./key/reconcile-key.ts";
import { reconcileLibrary } from "./library/reconcile-library.ts";
import { type PolicyNamespaces, reconcilePolicy } from "./policy/reconcile-policy.ts";
import type { EarlyLane } from "./queue/lane-queue.ts";
import { isReconciled } from "./resync.ts";
import type { ClaimOrder } from "./team/claim-order.ts";
import { reconcileTeam } from "./team/reconcile-team.ts";
import { requestsForGateway, requestsForLibrary, requestsForMove } from "./watch-mapping.ts";

/** The name of an object, as the queue has it. */
export type Item = { readonly kind: Kind; readonly namespace: string; readonly name: string };

/** Kinds whose failures are reported alike; a key reports its own. */
type OtherKind = Exclude<Kind, "PlatformKey">;

/**
 * Returns the early lane of an object. An object that works and is to end passes whatever is to begin. Keys, which end
 * by the store alone, pass the other objects. A declaration that has no key yet is to begin, whatever state it asks
 * for.
 */
export function earlyLane(cluster: Cluster, { kind, namespace, name }: Item): EarlyLane | undefined {
  const object = cluster.get(kind, namespace, name);
  if (object === undefined) return undefined;
  if (object.deleting) return kind === "PlatformKey" ? "urgent" : "remaining";
  const hasKey = object.status?.keyID !== undefined;
  const isToEnd = hasKey && "state" in object.spec && object.spec.state !== "Active" && !isReconciled(object);
  return isToEnd ? "urgent" : undefined;
}

/**
 * Brings the object of a name to where its declaration says, and enqueues what depends on it. If that fails, the status
 * says so (threats c105).
 *
 * @throws StaleLeaderError if another leader has taken over: nothing may be written any more
 */
export async function reconcile(
  deps: KeyDeps,
  known: { readonly claims: ClaimOrder; readonly policyNamespaces: PolicyNamespaces },
  { kind, namespace, name }: Item,
  enqueue: (item: Item) => void,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (kind === "PlatformKey") return reconcileKey(deps, { namespace, name }, signal);
  try {
    return await reconcileOther(deps, known, { kind, namespace, name }, enqueue);
  } catch (error) {
    const object = deps.cluster.get(kind, namespace, name);
    if (object !== undefined && !(error instanceof StaleLeaderError) && !signal.aborted) {
      const status = retryingStatus(object, error, deps.clock.now());
      // The cluster may be what failed.
      await deps.cluster.writeStatus(object, status).catch(() => {});
    }
    throw error;
  }
}

async function reconcileOther(
  deps: KeyDeps,
  { claims, policyNamespaces }: { readonly claims: ClaimOrder; readonly policyNamespaces: PolicyNamespaces },
  { kind, namespace, name }: Item & { readonly kind: OtherKind },
  enqueue: (item: Item) => void,
): Promise<ReconcileResult> {
  const { cluster } = deps;
  switch (kind) {
    case "PlatformTeam": {
      const team = cluster.get(kind, namespace, name);
      if (team === undefined) {
        claims.forget(name);
        cluster.list("PlatformKeyPolicy").forEach(enqueue);
        return AT_REST;
      }
      const move = (moved: readonly string[]) => requestsForMove(cluster, team, moved).forEach(enqueue);
      const result = await reconcileTeam(deps, claims, team, move);
      cluster.list("PlatformKeyPolicy").forEach(enqueue);
      return result;
    }
    case "PlatformKeyPolicy":
      return reconcilePolicy(deps, policyNamespaces, name, enqueue);
    case "ModelGateway": {
      const gateway = cluster.get(kind, namespace, name);
      if (gateway === undefined) return AT_REST;
      return reconcileGateway(deps, gateway, () => requestsForGateway(cluster, gateway).forEach(enqueue));
    }
    case "MemoryLibrary": {
      const library = cluster.get(kind, namespace, name);
      if (library === undefined) return AT_REST;
      return reconcileLibrary(deps, library, () => requestsForLibrary(cluster, library).forEach(enqueue));
    }
  }
}
