import { findCondition, gravityOf, type Reason } from "../../domain/conditions.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import { recordConditions } from "../../store/objects/object-conditions.ts";
import type { ObjectKind } from "../../store/objects/objects.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";
import type { ControllerDeps } from "./deps.ts";
import { recordEvent } from "./record-event.ts";

/**
 * Reasons that may come from the order of a start alone: what is missing at the first look may be there at the next.
 */
const ORDER_OF_START: ReadonlySet<string> = new Set([
  "NamespaceUnclaimed",
  "LibraryNotFound",
  "ReferenceNotFound",
  "CredentialNotFound",
  "NoTeamSelected",
] satisfies Reason[]);

/** Reasons that say what is wrong with a key that works. */
const WRONG_THOUGH_READY: ReadonlySet<string> = new Set(["SecretAltered", "SecretRefused"] satisfies Reason[]);

/** Conditions that say what is wrong beside Ready, each with the status that says so. */
const WRONG_BESIDE_READY = [
  ["Leaked", "True"],
  ["PolicyViolated", "True"],
  ["CredentialsAccepted", "False"],
] as const;

/** Kinds whose conditions are recorded with each status; those of keys are recorded with their declarations. */
const RECORDED: { readonly [K in Kind]?: ObjectKind } = {
  PlatformTeam: "team",
  MemoryLibrary: "library",
  ModelGateway: "gateway",
};

/**
 * Writes what was found of an object to its status, and first to the store, for readers that do not look at the
 * cluster. Records an event if the object is not ready, or works with something wrong, for a reason or in words that
 * its status does not have yet; and for what is wrong beside Ready: once, and not at every look. A reason that may come
 * from the order of a start alone becomes an event once it has lasted. A failed attempt, which is tried again, is no
 * event. A status that is left to another controller never has what was found here, and there is no event either.
 */
export async function writeStatus(deps: ControllerDeps, object: DeclaredObject, status: ObjectStatus): Promise<void> {
  const { cluster, pendingEvents, store } = deps;
  if (cluster.leavesStatus(object, status)) return;
  const recorded = RECORDED[object.kind];
  if (recorded !== undefined) {
    const { namespace, name, uid: ownerUid } = object;
    const declared = { cluster: cluster.uid, namespace, name, ownerUid };
    await recordConditions(store.db, recorded, declared, status.conditions ?? []);
  }
  const ready = findCondition(status.conditions, "Ready");
  const before = findCondition(object.status?.conditions, "Ready");
  const isNews = ready?.reason !== before?.reason || ready?.message !== before?.message;
  const isWrong = ready !== undefined && (ready.status === "False" || WRONG_THOUGH_READY.has(ready.reason));
  const isFailedAttempt = findCondition(status.conditions, "Reconciling")?.reason === "Retrying";
  const isRetried =
    ready?.reason === "Retrying" || (isFailedAttempt && ready !== undefined && gravityOf(ready) === "under way");
  // The deletion of an object is no news, except for what prevents it.
  const isGoing = object.deleting && ready?.reason !== "SecretRefused";
  const refusal = isWrong && isNews && !isRetried && !isGoing ? ready : undefined;
  const isStarting = before === undefined || before.status === "Unknown" || pendingEvents.has(object.uid);
  const mayPass = refusal !== undefined && isStarting && ORDER_OF_START.has(refusal.reason);
  if (refusal !== undefined && !mayPass) {
    const { reason, message } = refusal;
    await recordEvent(deps, object, { type: "Warning", reason, message });
  }
  for (const [type, wrong] of WRONG_BESIDE_READY) {
    const found = findCondition(status.conditions, type);
    if (found?.status !== wrong || found.message === findCondition(object.status?.conditions, type)?.message) continue;
    await recordEvent(deps, object, { type: "Warning", reason: found.reason, message: found.message });
  }
  await cluster.writeStatus(object, status);
  if (mayPass) pendingEvents.add(object, refusal.reason);
  else if (isNews) pendingEvents.drop(object.uid);
}
