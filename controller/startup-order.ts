import type { Kind } from "../domain/kinds/kinds.ts";
import type { Cluster, DeclaredObject, ObjectRef } from "./cluster/port.ts";
import { isReconciled } from "./resync.ts";

/** Kinds in the order of a start: a kind that is referred to comes before the kinds that refer to it. */
const ORDER: readonly Kind[] = ["PlatformTeam", "PlatformKeyPolicy", "MemoryLibrary", "ModelGateway", "PlatformKey"];

export type StartupOrder = {
  /** True if an object may be worked on already. An object that may not yet comes later, so nothing is lost. */
  admits(object: ObjectRef): boolean;
  /** Notes that an object was worked on, whether or not that succeeded. */
  attempted(object: ObjectRef): void;
  /** Has every object worked on once, in order. Resolves when all have been attempted. */
  run(cluster: Pick<Cluster, "list">, enqueue: (object: ObjectRef) => void, signal: AbortSignal): Promise<void>;
};

/**
 * Makes the order of a start. Kinds come one after the other, so that no status says that a team or a library is
 * missing only because it has not been looked at. Within a kind, objects that are being deleted come first, then those
 * that are not as declared: leaders that are replaced before they have been through everything must not all leave the
 * same objects to the last. An object that fails holds up no other: one attempt counts.
 */
export function startupOrder(): StartupOrder {
  let stage = -1;
  let waitingFor = new Set<string>();
  let stageDone = () => {};
  const nameOf = ({ kind, namespace, name }: ObjectRef) => `${kind}/${namespace}/${name}`;

  return {
    admits: ({ kind }) => ORDER.indexOf(kind) <= stage,
    attempted(object) {
      if (waitingFor.delete(nameOf(object)) && waitingFor.size === 0) stageDone();
    },
    async run(cluster, enqueue, signal) {
      for (const [index, kind] of ORDER.entries()) {
        const objects = cluster.list(kind).toSorted((a, b) => positionOf(a) - positionOf(b));
        stage = index;
        if (objects.length === 0 || signal.aborted) continue;
        const { promise, resolve } = Promise.withResolvers<void>();
        stageDone = resolve;
        waitingFor = new Set(objects.map(nameOf));
        signal.addEventListener("abort", stageDone, { once: true });
        objects.forEach(enqueue);
        await promise;
        signal.removeEventListener("abort", stageDone);
      }
    },
  };
}

/**
 * Returns the position of an object within its kind. Deletions come first: a key that is being deleted works until
 * then.
 */
function positionOf(object: DeclaredObject): number {
  if (object.deleting) return 0;
  return isReconciled(object) ? 2 : 1;
}
