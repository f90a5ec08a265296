import type { Cluster, ObjectRef } from "../../controller/cluster/port.ts";
import { KINDS } from "../../domain/kinds/kinds.ts";

/** Longest wait for declarations that are not reconciled, before the others are shown. Milliseconds. */
const MAX_WAIT_MS = 30_000;

export type InitialSync = {
  /** Cluster for the controller, wrapped so that it is known when everything declared has been listed. */
  readonly cluster: Cluster;
  /** Records that an object has been reconciled. */
  reconciled(object: ObjectRef): void;
  /**
   * Resolves once everything declared has been reconciled once, or the time is up, with the number of objects that have
   * not; null if it is not known yet what is declared.
   */
  readonly done: Promise<number | null>;
};

/**
 * Watches until everything declared has been reconciled once.
 *
 * @param maxWaitMs longest wait in milliseconds
 */
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
