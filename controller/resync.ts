import { findCondition } from "../domain/conditions.ts";
import type { Cluster, DeclaredObject } from "./cluster/port.ts";
import { allObjects } from "./watch-mapping.ts";

/**
 * Makes a function that returns the next few of the chosen objects: each time those after the last ones, and from the
 * beginning again after the end.
 */
export function roundRobin(
  most: number,
  isChosen: (object: DeclaredObject) => boolean,
): (cluster: Cluster) => DeclaredObject[] {
  let next = 0;
  return (cluster) => {
    const chosen = allObjects(cluster).filter(isChosen);
    if (next >= chosen.length) next = 0;
    const taken = chosen.slice(next, next + most);
    next += taken.length;
    return taken;
  };
}

/** True if an object's status says that the world is as its present generation declares. */
export function isReconciled({ generation, deleting, status }: DeclaredObject): boolean {
  const ready = findCondition(status?.conditions, "Ready");
  return !deleting && status?.observedGeneration === generation && ready?.status === "True";
}
