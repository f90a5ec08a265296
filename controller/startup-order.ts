import type { Kind } from "../domain/kinds/kinds.ts";
import type { Cluster, DeclaredObject, ObjectRef } from "./cluster/port.ts";
import { isReconciled } from "./resync.ts";

/** What is referred to comes before what refers to it. */
const ORDER: readonly Kind[] = ["PlatformTeam", "MemoryLibrary", "ModelGateway", "PlatformKey"];

export type StartupOrder = {
  /** Whether an object is worked on yet; one that is not will be, so nothing is lost. */
  admits(object: ObjectRef): boolean;
  /** Notes that an object was worked on, whether or not that succeeded. */
  attempted(object: ObjectRef): void;
  /** Has every object worked on once, in its turn. Resolves when all have had theirs. */
  run(cluster: Pick<Cluster, "list">, enqueue: (object: ObjectRef) => void, signal: AbortSignal): Promise<void>;
};

/**
 * The order of a start. Kinds come one after the other, so that no status says that a team or a library is missing only
 * because it has not been looked at. Teams come one by one, since the first of several that claim a namespace gets it
 * (spec §5). Of the other kinds, what is being deleted comes first, then what is not as declared: leaders that are
 * replaced before they have been through everything must not all leave the same objects to the last. An object that
 * fails holds up no other: one attempt counts.
 */
export function startupOrder(): StartupOrder {
  let stage = -1;
  /** Of the present stage, those whose turn is still to come. */
  let toCome = new Set<string>();
  let waitingFor = new Set<string>();
  let turnDone = () => {};
  const nameOf = ({ kind, namespace, name }: ObjectRef) => `${kind}/${namespace}/${name}`;

  return {
    admits: (object) => ORDER.indexOf(object.kind) <= stage && !toCome.has(nameOf(object)),
    attempted(object) {
      if (waitingFor.delete(nameOf(object)) && waitingFor.size === 0) turnDone();
    },
    async run(cluster, enqueue, signal) {
      for (const [index, kind] of ORDER.entries()) {
        const turns = turnsOf(cluster.list(kind));
        toCome = new Set(turns.flat().map(nameOf));
        stage = index;
        for (const turn of turns) {
          for (const object of turn) toCome.delete(nameOf(object));
          if (signal.aborted) continue;
          const { promise, resolve } = Promise.withResolvers<void>();
          turnDone = resolve;
          waitingFor = new Set(turn.map(nameOf));
          signal.addEventListener("abort", turnDone, { once: true });
          turn.forEach(enqueue);
          await promise;
          signal.removeEventListener("abort", turnDone);
        }
      }
    },
  };
}

/** Objects that are worked on together; teams alone, the older before the younger, then by name. */
function turnsOf(objects: readonly DeclaredObject[]): DeclaredObject[][] {
  if (objects.length === 0) return [];
  if (objects[0]?.kind !== "PlatformTeam") return [objects.toSorted((a, b) => placeOf(a) - placeOf(b))];
  return objects.toSorted((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1)).map((object) => [object]);
}

/** A key that is being deleted works until it is worked on. */
function placeOf(object: DeclaredObject): number {
  if (object.deleting) return 0;
  return isReconciled(object) ? 2 : 1;
}
