import { findCondition } from "../../domain/conditions.ts";
import { errorText } from "../../domain/error-text.ts";
import type { ClusterEvent, DeclaredObject } from "../cluster/port.ts";
import { titleOf } from "../cluster/titles.ts";
import type { ControllerDeps } from "./deps.ts";

/** Records an event. It informs people: a failure to write it holds up nothing. */
export async function recordEvent(deps: ControllerDeps, object: DeclaredObject, event: ClusterEvent): Promise<void> {
  try {
    await deps.cluster.recordEvent(object, event);
  } catch (error) {
    deps.log("warn", `no event for ${titleOf(object)}: ${errorText(error)}`);
  }
}

/** Milliseconds between two looks at the events that wait. */
export const PENDING_EVENTS_INTERVAL_MS = 1_000;

/** Records the events that have waited for long enough and whose reason still holds, one by one, until the signal. */
export async function recordPendingEvents(deps: ControllerDeps, signal: AbortSignal): Promise<void> {
  const { cluster, pendingEvents } = deps;
  while (!signal.aborted && !cluster.isReplaced()) {
    const due = pendingEvents.takeDue();
    if (due === undefined) return;
    const object = cluster.get(due.object.kind, due.object.namespace, due.object.name);
    if (object?.uid !== due.uid || object.deleting) continue;
    const ready = findCondition(object.status?.conditions, "Ready");
    if (ready?.status !== "False" || ready.reason !== due.reason) continue;
    const { reason, message } = ready;
    await recordEvent(deps, object, { type: "Warning", reason, message });
  }
}
