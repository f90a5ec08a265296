import { findCondition, type Reason } from "../../domain/conditions.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import { recordConditions } from "../../store/objects/object-conditions.ts";
import type { ObjectKind } from "../../store/objects/objects.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";
import type { ControllerDeps } from "./deps.ts";
import { recordEvent } from "./record-event.ts";

/** What is declared together is found in some order: what is not there at the first look may be there at the next. */
const ORDER_OF_START: ReadonlySet<string> = new Set([
  "NamespaceUnclaimed",
  "LibraryNotFound",
  "ReferenceNotFound",
  "CredentialNotFound",
  "NoTeamSelected",
] satisfies Reason[]);

/** What is wrong with a key that works. */
const WRONG_THOUGH_READY: ReadonlySet<string> = new Set(["SecretAltered", "SecretRefused"] satisfies Reason[]);

/** What is wrong beside Ready, and the status of the condition that says so. */
const WRONG_BESIDE_READY = [
  ["Leaked", "True"],
  ["PolicyViolated", "True"],
  ["CredentialsAccepted", "False"],
] as const;

/** The kinds whose conditions are recorded with each status; those of keys are with their declarations. */
const RECORDED: { readonly [K in Kind]?: ObjectKind } = {
  PlatformTeam: "team",
  MemoryLibrary: "library",
  ModelGateway: "gateway",
};

/**
 * Writes what was found of an object, and first into the store, for those who do not look at the cluster. Where it is not
 * ready, or works with something wrong, for a reason or in words that its status does not have yet, an event says so too,
 * and so it does of what is wrong beside Ready: once, and not at every look. What may be the order of a start alone is an
 * event once it has lasted. A status that is left to another controller never has what was found here: it has no event
 * either.
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
  // That an object goes is no news, but for what keeps it.
  const isGoing = object.deleting && ready?.reason !== "SecretRefused";
  const refusal = isWrong && isNews && !isGoing ? ready : undefined;
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
