import { findCondition, type StatedCondition } from "../../domain/conditions.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import type { Condition, DeclaredObject } from "./port.ts";

/** Returns conditions as they are written: a transition time stays as long as its status does. */
export function mergeConditions(object: DeclaredObject, stated: readonly StatedCondition[], now: number): Condition[] {
  return stated.map((condition) => {
    const before = findCondition(object.status?.conditions, condition.type);
    return {
      ...condition,
      observedGeneration: object.generation,
      lastTransitionTime: before?.status === condition.status ? before.lastTransitionTime : rfc3339(now),
    };
  });
}
