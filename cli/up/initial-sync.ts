import type { Cluster, ObjectRef } from "../../controller/cluster/port.ts";
import { KINDS } from "../../domain/kinds/kinds.ts";

/** How long to wait for a declaration that does not come to rest before the others are shown. */
const MAX_WAIT_MS = 15_000;

export type InitialSync = {
  /** The same cluster, to be handed to the controller: what is declared is known once it has been listed. */
  readonly cluster: Cluster;
  /** To be called with each object that has been brought to rest. */
  reconciled(object: ObjectRef): void;
  /**
   * Resolves when all that is declared has been brought to rest once, or has had its time, with how many objects have
   * not; null where it is not known yet what is declared.
   */
  readonly done: Promise<number | null>;
};

/** @param maxWaitMs after which the others are not waited for */
export function watchInitialSync(cluster: Cluster, maxWaitMs = MAX_WAIT_MS): InitialSync {
  const seen = new Set<string>();
  const { promise: done, resolve } = Promise.withResolvers<number | null>();
  const timer = setTimeout(() => end(isListed ? unseen().length : null), maxWaitMs).unref();
  let isListed = false;
  let isOver = false;
  const nameOf = ({ kind, namespace, name }: ObjectRef) => `${kind}/${namespace}/${name}`;

  const unseen = () => KINDS.flatMap((kind) => cluster.list(kind).filter((object) => !seen.has(nameOf(object))));

  function resolveWhenAllSeen(): void {
    if (!isOver && isListed && unseen().length === 0) end(0);
  }

  function end(waiting: number | null): void {
    isOver = true;
    clearTimeout(timer);
    resolve(waiting);
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
