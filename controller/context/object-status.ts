import { condition, findCondition, progressOf, type StatedCondition } from "../../domain/conditions.ts";
import { errorText } from "../../domain/error-text.ts";
import { namespaceUnclaimed, readyOf } from "../../domain/object-conditions.ts";
import { mergeConditions } from "../cluster/merge-conditions.ts";
import { ClusterError, type DeclaredObject, type ObjectStatus } from "../cluster/port.ts";

/** Returns the status of a team, library or gateway: ready if every one of its own conditions is True. */
export function declaredStatus(object: DeclaredObject, stated: readonly StatedCondition[], now: number): ObjectStatus {
  const ready = readyOf(stated);
  return {
    observedGeneration: object.generation,
    conditions: mergeConditions(object, [ready, ...stated, ...progressOf(ready)], now),
  };
}

/** Returns the status of an object that is declared in a namespace that no team holds. */
export function unclaimedStatus(object: DeclaredObject, now: number): ObjectStatus {
  return declaredStatus(object, [namespaceUnclaimed()], now);
}

/**
 * Returns the status of an object that could not be brought to rest: as it was, with the reason for the retry.
 * Readiness is about the present generation: it is unknown for a generation that was not looked at yet, and false for a
 * generation that could not be applied. If an admission control refuses a Secret, the status names it, even for a key
 * whose earlier version works on.
 */
export function retryingStatus(object: DeclaredObject, error: unknown, now: number): ObjectStatus {
  const message = `The last attempt failed: ${errorText(error)}.`;
  const isRefused = isAdmissionRefusal(error);
  const stated = [condition("Reconciling", "True", isRefused ? "SecretRefused" : "Retrying", message)];
  const ready = findCondition(object.status?.conditions, "Ready");
  if (isRefused) {
    const isWorking = ready?.status === "True" && ready.observedGeneration === object.generation;
    stated.unshift(condition("Ready", isWorking ? "True" : "False", "SecretRefused", message));
    if (findCondition(object.status?.conditions, "SecretDelivered")?.reason === "Minting")
      stated.push(condition("SecretDelivered", "False", "SecretRefused", message));
  } else if (ready === undefined || ready.reason === "Pending" || ready.status === "Unknown") {
    stated.unshift(condition("Ready", "Unknown", "Retrying", message));
  } else if (ready.observedGeneration !== object.generation || ready.reason === "Retrying") {
    stated.unshift(condition("Ready", "False", "Retrying", message));
  }
  const replaced = new Set<string>(["Reconciling", "Stalled", ...stated.map(({ type }) => type)]);
  const others = object.status?.conditions?.filter(({ type }) => !replaced.has(type)) ?? [];
  return { ...object.status, conditions: [...mergeConditions(object, stated, now), ...others] };
}

/** True if an admission control of the cluster refused what was written. */
function isAdmissionRefusal(error: unknown): boolean {
  return error instanceof ClusterError && error.code === "Refused";
}
