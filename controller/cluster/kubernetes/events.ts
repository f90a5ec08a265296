/** Events, for people: `kubectl describe` shows them. */
import { API_VERSION } from "../../../domain/kinds/kinds.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { ClusterEvent, DeclaredObject } from "../port.ts";
import { titleOf } from "../titles.ts";
import type { ApiClient } from "./api/api-client.ts";
import { isOfEndingNamespace, writeError } from "./api/api-error.ts";
import { eventsPath } from "./resources.ts";

/** Controller that reports the events. */
export const REPORTER = "keyplane.dev/controller";

/** Largest number of characters that the API server takes of a note. */
const MAX_NOTE = 1024;

/**
 * Records an event about an object.
 *
 * @param instance the process of the controller that reports it
 * @returns false if its namespace takes no events any more, since it is being deleted
 * @throws ClusterError, or Error for an answer that is unclear
 */
export async function createEvent(
  api: ApiClient,
  { now, controller, instance }: { readonly now: number; readonly controller: string; readonly instance: string },
  object: DeclaredObject,
  { type, reason, message }: ClusterEvent,
): Promise<boolean> {
  const { kind, namespace, name, uid, resourceVersion } = object;
  const regarding = { apiVersion: API_VERSION, kind, name, uid, resourceVersion };
  const body = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { generateName: `${name}-`, namespace: namespace || "default" },
    eventTime: microTime(now),
    reportingController: controller,
    reportingInstance: instance.slice(0, 128),
    action: "Reconcile",
    reason,
    type,
    note: message.slice(0, MAX_NOTE),
    regarding: namespace === "" ? regarding : { ...regarding, namespace },
  };
  try {
    await api.request({ method: "POST", path: eventsPath(namespace), body });
    return true;
  } catch (error) {
    if (isOfEndingNamespace(error)) return false;
    throw writeError(error, `recording ${reason} of ${titleOf(object)}`);
  }
}

/** Writes a time as Kubernetes' MicroTime. */
export const microTime = (ms: number): string => rfc3339Millis(ms).replace("Z", "000Z");
