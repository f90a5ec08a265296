import { setTimeout as delay } from "node:timers/promises";
import { type Cluster, ClusterError } from "../port.ts";
import { titleOf } from "../titles.ts";
import type { ApiClient } from "./api/api-client.ts";
import { ApiError, writeError } from "./api/api-error.ts";
import { workloadPath } from "./resources.ts";

/** Milliseconds for which the restarts of one workload are gathered: keys that rotate together roll it out once. */
const GATHERED_FOR = 1_000;

/** Statuses with which admission controls deny a workload, besides the 403 that is `Forbidden` anyway. */
const DENIED: ReadonlySet<number | null> = new Set([400, 422]);

/**
 * Makes the port's `restartWorkload`: what `kubectl rollout restart` does, with an annotation that says why.
 *
 * @param closing signal that ends the wait for more restarts, which then fails
 */
export function workloadRestarter(
  api: ApiClient,
  fieldManager: string,
  closing: AbortSignal,
): Cluster["restartWorkload"] {
  /** Restarts that wait to be sent, by the workload's path, with their outcome. */
  const gathered = new Map<string, { readonly annotations: Map<string, string>; readonly outcome: Promise<void> }>();

  async function send(path: string, annotations: ReadonlyMap<string, string>): Promise<void> {
    await delay(GATHERED_FOR, undefined, { signal: closing });
    gathered.delete(path);
    await api.request({
      method: "PATCH",
      path,
      query: { fieldManager },
      contentType: "application/merge-patch+json",
      body: { spec: { template: { metadata: { annotations: Object.fromEntries(annotations) } } } },
    });
  }

  return async (namespace, { kind, name }, annotation) => {
    const path = workloadPath(kind, { namespace, name });
    if (path === undefined) throw new Error(`a ${kind} cannot be restarted`);
    let batch = gathered.get(path);
    if (batch === undefined) {
      const annotations = new Map<string, string>();
      batch = { annotations, outcome: send(path, annotations) };
      gathered.set(path, batch);
    }
    batch.annotations.set(annotation.name, annotation.value);
    try {
      await batch.outcome;
    } catch (error) {
      const failed = writeError(error, `restarting ${titleOf({ kind, namespace, name })}`);
      const isDenied = error instanceof ApiError && DENIED.has(error.status);
      throw isDenied ? new ClusterError("Refused", failed.message) : failed;
    }
  };
}
