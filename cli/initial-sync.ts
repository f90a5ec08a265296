import type { Cluster, ObjectRef } from "../controller/cluster/port.ts";
import { KINDS } from "../domain/manifest/kinds.ts";

/** How long to wait for a declaration that does not come to rest before the others are shown. */
const MAX_WAIT_MS = 15_000;

/** Knows when every declaration that there is has been brought to rest once, or has had its time. */
export function watchInitialSync(cluster: Cluster): { done: Promise<void>; reconciled: (object: ObjectRef) => void } {
  const seen = new Set<string>();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MAX_WAIT_MS).unref();
  return {
    done,
    reconciled({ kind, namespace, name }) {
      seen.add(`${kind}/${namespace}/${name}`);
      const all = KINDS.flatMap((each) => [...cluster.list(each)]);
      if (
        seen.size < all.length ||
        !all.every((object) => seen.has(`${object.kind}/${object.namespace}/${object.name}`))
      ) {
        return;
      }
      clearTimeout(timer);
      resolve();
    },
  };
}
