import type { Cluster, ObjectRef } from "../../controller/cluster/port.ts";
import { KINDS } from "../../domain/kinds/kinds.ts";

/** How long to wait for a declaration that does not come to rest before the others are shown. */
const MAX_WAIT_MS = 15_000;

export type InitialSync = {
  /** The same cluster, to be handed to the controller: what is declared is known once it has been listed. */
  readonly cluster: Cluster;
  /** To be called with each object that has been brought to rest. */
  reconciled(object: ObjectRef): void;
  /** Resolves when all that is declared has been brought to rest once, or has had its time. */
  readonly done: Promise<void>;
};

export function watchInitialSync(cluster: Cluster): InitialSync {
  const seen = new Set<string>();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MAX_WAIT_MS).unref();
  let isListed = false;
  const nameOf = ({ kind, namespace, name }: ObjectRef) => `${kind}/${namespace}/${name}`;

  function resolveWhenAllSeen(): void {
    const all = KINDS.flatMap((kind) => [...cluster.list(kind)]);
    if (!isListed || !all.every((object) => seen.has(nameOf(object)))) return;
    clearTimeout(timer);
    resolve();
  }

  return {
    cluster: {
      ...cluster,
      async watch(onChange, signal) {
        await cluster.watch(onChange, signal);
        isListed = true;
        resolveWhenAllSeen();
      },
    },
    reconciled(object) {
      seen.add(nameOf(object));
      resolveWhenAllSeen();
    },
    done,
  };
}
