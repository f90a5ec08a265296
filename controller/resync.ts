import { findCondition } from "../domain/conditions.ts";
import type { Cluster, DeclaredObject } from "./cluster/port.ts";
import { allObjects } from "./watch-mapping.ts";

/**
 * Makes a question for the next few objects of those that are chosen: each time those after the last ones, from the
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

/** Whether an object's status says that the world is as its present generation declares. */
export function isReconciled({ generation, deleting, status }: DeclaredObject): boolean {
  const ready = findCondition(status?.conditions, "Ready");
  return !deleting && status?.observedGeneration === generation && ready?.status === "True";
}
