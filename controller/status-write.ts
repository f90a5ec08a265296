import { findCondition, type Reason } from "../domain/conditions.ts";
import type { DeclaredObject, ObjectStatus } from "./cluster/port.ts";
import type { ControllerDeps } from "./deps.ts";
import { recordEvent } from "./record-event.ts";

/** What is declared together is found in some order: what is not there at the first look is in the status alone. */
const ORDER_OF_START: ReadonlySet<string> = new Set([
  "NamespaceUnclaimed",
  "LibraryNotFound",
  "ReferenceNotFound",
  "CredentialNotFound",
] satisfies Reason[]);

/** What is wrong with a key that works. */
const WRONG_THOUGH_READY: ReadonlySet<string> = new Set(["SecretAltered", "SecretRefused"] satisfies Reason[]);

/**
 * Writes what was found of an object. Where it is not ready, or works with something wrong, for a reason or in words that
 * its status does not have yet, an event says so too, and so it does of a leak: once, and not at every look. A status
 * that is left to another controller never has what was found here: no event tells it either.
 */
export async function writeStatus(deps: ControllerDeps, object: DeclaredObject, status: ObjectStatus): Promise<void> {
  if (deps.cluster.leavesStatus(object, status)) return;
  const ready = findCondition(status.conditions, "Ready");
  const before = findCondition(object.status?.conditions, "Ready");
  const isNews = ready?.reason !== before?.reason || ready?.message !== before?.message;
  const isFirst = before === undefined || before.status === "Unknown";
  const isInOrder = isFirst && ready !== undefined && ORDER_OF_START.has(ready.reason);
  const isWrong = ready !== undefined && (ready.status === "False" || WRONG_THOUGH_READY.has(ready.reason));
  // That an object goes is no news, but for what keeps it.
  const isGoing = object.deleting && ready?.reason !== "SecretRefused";
  if (isWrong && isNews && !isInOrder && !isGoing) {
    const { reason, message } = ready;
    await recordEvent(deps, object, { type: "Warning", reason, message });
  }
  const leaked = findCondition(status.conditions, "Leaked");
  if (leaked !== undefined && leaked.message !== findCondition(object.status?.conditions, "Leaked")?.message) {
    await recordEvent(deps, object, { type: "Warning", reason: leaked.reason, message: leaked.message });
  }
  await deps.cluster.writeStatus(object, status);
}
