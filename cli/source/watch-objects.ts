import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import type { Selectors } from "./list-all.ts";

/** Duration that a watch is requested for, and the additional wait for its end. Seconds. */
const WATCH_SECONDS = 60;
const WATCH_GRACE_SECONDS = 10;
/** Pause in milliseconds before the next attempt, if the API server refuses the watch or does not answer. */
const RETRY_MS = 2_000;

/**
 * Calls `onChange` at each change of a collection of a Kubernetes API, until the signal aborts. A watch that ends or
 * fails is opened again; `onChange` is called then too, since something may have changed meanwhile.
 */
export async function watchObjects(
  api: Pick<ApiClient, "request" | "stream">,
  path: string,
  selectors: Selectors,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const resourceVersion = await versionOf(api, path, selectors, signal);
      onChange();
      await api.stream(
        {
          method: "GET",
          path,
          signal,
          timeoutMs: (WATCH_SECONDS + WATCH_GRACE_SECONDS) * 1_000,
          query: { ...selectors, watch: "1", resourceVersion, timeoutSeconds: String(WATCH_SECONDS) },
        },
        false,
        { onOpen: async () => {}, onValue: onChange },
      );
    } catch {
      if (signal.aborted) return;
      onChange();
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** Returns the resource version of the collection as it is now. */
async function versionOf(
  api: Pick<ApiClient, "request">,
  path: string,
  selectors: Selectors,
  signal: AbortSignal,
): Promise<string> {
  const page = await api.request({ method: "GET", path, query: { ...selectors, limit: "1" }, signal });
  const { resourceVersion } = isRecord(page) && isRecord(page.metadata) ? page.metadata : {};
  if (typeof resourceVersion !== "string") throw new Error(`${path} is no list`);
  return resourceVersion;
}
