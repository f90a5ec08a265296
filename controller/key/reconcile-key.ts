import { isDeepStrictEqual } from "node:util";
import { nextBegin } from "../../domain/budget/budget-condition.ts";
import { type DeclaredKey, isSecretCollected } from "../../domain/key/declaration/declared-key.ts";
import type { KeyAction } from "../../domain/key/plan/key-action.ts";
import { isGoing, planEnd, planUnread } from "../../domain/key/plan/plan-end.ts";
import { type KeyPlan, planKey } from "../../domain/key/plan/plan-key.ts";
import { TooManyKeysError } from "../../store/database/errors.ts";
import type { DeclaredRows } from "../../store/keys/rows/declared-key.ts";
import { asRecorded, recordKeyConditions } from "../../store/objects/object-conditions.ts";
import { ClusterError, type DeclaredObject, type ObjectStatus } from "../cluster/port.ts";
import { readIfAllowed } from "../cluster/secret-reading.ts";
import { AT_REST, type ReconcileResult } from "../context/reconcile-result.ts";
import { writeStatus } from "../context/status-write.ts";
import { FailedStep, reportFailureInStatus } from "./failed-step.ts";
import { actOnKey } from "./key-actions.ts";
import type { KeyDeps } from "./key-deps.ts";
import { type KeyObservation, observeDeclaration, observeKey } from "./key-observation.ts";
import { isConfirming, isReady, keyStatus } from "./key-status.ts";
import { observeSecret, readSecretOf } from "./observe-secret.ts";
import { recordFound } from "./record-found.ts";
import { actOnStore, recordEvents } from "./store-action.ts";

/**
 * Largest number of steps. No plan takes as many: a key that does is going in circles, and is left to the queue's
 * back-off.
 */
const MAX_STEPS = 32;

/**
 * Brings one declared key to rest: observes, plans one step, carries it out, and repeats (architecture §2). The status
 * is written once, at rest. No worker waits while the replicas acknowledge a change or workloads restart: it works on
 * another key.
 *
 * @throws StaleLeaderError if another leader has taken over: nothing may be written any more
 */
export async function reconcileKey(deps: KeyDeps, name: KeyName, signal: AbortSignal): Promise<ReconcileResult> {
  const result = await reportFailureInStatus(deps, name, signal, runUntilStable(deps, name, signal));
  return "done" in result ? { done: reportFailureInStatus(deps, name, signal, result.done) } : result;
}

/**
 * Revokes or suspends one declared key, if that is due, and does nothing else for it: of thousands of keys that end
 * together no event, Secret or finalizer comes before the last has ended (threats c71).
 *
 * @throws StaleLeaderError if another leader has taken over: nothing may be written any more
 */
export async function endKey(deps: KeyDeps, name: KeyName, signal: AbortSignal): Promise<void> {
  await reportFailureInStatus(deps, name, signal, endInStore(deps, name));
}

async function endInStore(deps: KeyDeps, { namespace, name }: KeyName): Promise<void> {
  const object = deps.cluster.get("PlatformKey", namespace, name);
  if (object === undefined) return;
  const declaration = await observeDeclaration(deps, object);
  const end = object.isUnread ? planUnread(declaration.observed) : planEnd(declaration.observed);
  if (end !== undefined) await actOnStore(deps, declaration, end);
}

/**
 * Brings a key of whose declaration only the state can be read to rest. Its status is not written here: it says what
 * cannot be read.
 *
 * @returns undefined if the key is over, so that its deletion goes on as that of any other
 */
async function settleUnread(
  deps: KeyDeps,
  object: DeclaredObject<"PlatformKey">,
): Promise<ReconcileResult | undefined> {
  for (let step = 0; step < MAX_STEPS; step++) {
    const declaration = await observeDeclaration(deps, object);
    const { observed, rows } = declaration;
    const action = planUnread(observed);
    if (action === undefined) {
      if (isGoing(observed)) return undefined;
      await keepSecret(deps, object, observed.declared);
      const inMs = observed.verdict.nextAt - rows.now;
      return { requeueAfterMs: Number.isFinite(inMs) ? inMs : undefined };
    }
    await actOnStore(deps, declaration, action);
    await recordEvents(deps, object);
  }
  throw notConverged(object);
}

/**
 * Makes the Secret of a key that cannot be read its own, and no more Kubernetes' to delete, if it is to outlive the
 * declaration (threats c110). Nothing else of it is changed.
 */
async function keepSecret(
  { cluster }: KeyDeps,
  { uid, namespace }: DeclaredObject<"PlatformKey">,
  declared: DeclaredKey,
): Promise<void> {
  if (isSecretCollected(declared)) return;
  const read = await readIfAllowed(cluster, namespace, declared.secret.name);
  if (!("secret" in read) || read.secret?.owner?.uid !== uid || !read.secret.owner.byReference) return;
  const { secret } = read;
  await cluster.replaceSecret(secret, { ...secret, owner: { ...read.secret.owner, byReference: false } });
}

function notConverged({ namespace, name }: KeyName): Error {
  return new Error(`PlatformKey ${namespace}/${name} did not converge in ${MAX_STEPS} steps`);
}

type KeyName = { readonly namespace: string; readonly name: string };

async function runUntilStable(deps: KeyDeps, name: KeyName, signal: AbortSignal): Promise<ReconcileResult> {
  let before: { readonly object: DeclaredObject; readonly rows: DeclaredRows } | undefined;
  for (let step = 0; ; step++) {
    const object = deps.cluster.get("PlatformKey", name.namespace, name.name);
    if (object === undefined || signal.aborted) return AT_REST;
    await recordEvents(deps, object);
    const settled = object.isUnread && (await settleUnread(deps, object));
    if (settled) return settled;
    const isSame = before?.object.uid === object.uid && before.object.generation === object.generation;
    const { observation, plan } = await decide(deps, object, isSame ? before?.rows : undefined);
    before = NOT_IN_STORE.has(plan.action.do) ? { object, rows: observation.rows } : undefined;

    if (plan.action.do === "Nothing") {
      if (signal.aborted) return AT_REST;
      if (!isWrittenAgain(observation)) deps.keyMemory.held.delete(object.uid);
      const { now } = observation.rows;
      const status = keyStatus(observation, plan, now);
      await recordFound(deps, observation, status);
      await recordFoundConditions(deps, observation, status);
      await writeStatus(deps, object, status);
      deps.keyMemory.restarted.delete(object.uid);
      const nextAt = Math.min(plan.requeueAt, nextBegin(observation.budgets));
      return { requeueAfterMs: Number.isFinite(nextAt) ? nextAt - now : undefined };
    }
    if (plan.action.do === "Wait") {
      const waitedMs = deps.confirmations.waitedMs(object.uid);
      if (waitedMs < LATE_MS) return unconfirmed(object, LATE_MS - waitedMs);
      const status = keyStatus(observation, plan, observation.rows.now);
      // A key that works stays ready meanwhile; what is suspended or revoked is said to be once each replica knows.
      if (isConfirming(status) && !isReady(object.status)) {
        await recordFound(deps, observation, status);
        await writeStatus(deps, object, status);
      }
      return unconfirmed(object);
    }
    if (step === MAX_STEPS) {
      throw new FailedStep(notConverged(name), observation, plan);
    }
    const carriedOut = carryOut(deps, observation, plan, plan.action);
    if (plan.action.do === "Restart") return { done: carriedOut };
    try {
      await carriedOut;
    } catch (error) {
      if (error instanceof FailedStep && isOutrun(error.cause, plan, observation)) continue;
      throw error;
    }
    if (IS_CONFIRMED_NEXT.has(plan.action.do)) return unconfirmed(object, LATE_MS);
  }
}

/** @throws FailedStep if the step fails */
async function carryOut(
  deps: KeyDeps,
  observation: KeyObservation,
  plan: KeyPlan,
  action: Parameters<typeof actOnKey>[2],
): Promise<void> {
  try {
    await actOnKey(deps, observation, action);
  } catch (error) {
    throw new FailedStep(error, observation, plan);
  }
}

/** True if the version that this process holds is to be written once more: something else changed what it wrote. */
function isWrittenAgain({ observed: { altered, held } }: KeyObservation): boolean {
  return held !== null && altered?.version === held;
}

/** Steps on the way to a key after which the next step needs nothing new from the store, and does not read it again. */
const NOT_IN_STORE: ReadonlySet<KeyAction["do"]> = new Set(["AddFinalizer", "Publish"] as const);

/** Milliseconds after which the status says that a key waits to be confirmed: most are sooner. */
const LATE_MS = 3_000;

function unconfirmed({ uid }: DeclaredObject, requeueAfterMs?: number): ReconcileResult {
  return { unconfirmed: uid, requeueAfterMs };
}

/** Steps after which there is nothing to do before the change is confirmed for every replica. */
const IS_CONFIRMED_NEXT: ReadonlySet<KeyAction["do"]> = new Set(["Reserve", "Activate"] as const);

/** Records the conditions, so that the key's page can say what is wrong with it. */
async function recordFoundConditions(
  { store }: KeyDeps,
  { stored, rows }: KeyObservation,
  { conditions = [] }: ObjectStatus,
): Promise<void> {
  if (stored === undefined || isDeepStrictEqual(rows.conditions, asRecorded(conditions))) return;
  await recordKeyConditions(store.db, stored.id, conditions);
}

const OUTRUN: ReadonlySet<ClusterError["code"]> = new Set(["AlreadyExists", "Conflict", "NotFound"] as const);

/**
 * True if another writer was first, or an assumption is wrong: nothing was written, and the next observation decides.
 */
function isOutrun(error: unknown, plan: KeyPlan, observation: KeyObservation): boolean {
  if (error instanceof TooManyKeysError) return true;
  if (!(error instanceof ClusterError)) return false;
  return OUTRUN.has(error.code) || mayBeForbidden(error, plan, observation);
}

/** True if the right to the Secrets of a namespace may be missing. Reading the Secret shows that, and why. */
function mayBeForbidden({ code }: ClusterError, { action }: KeyPlan, { isRead }: KeyObservation): boolean {
  return code === "Forbidden" && action.do === "Publish" && !isRead;
}

/** Actions on an existing Secret: they are decided after the Secret is read. */
const NEEDS_READ: ReadonlySet<KeyAction["do"]> = new Set([
  "Reserve",
  "Publish",
  "Render",
  "DetachSecret",
  "DeleteSecret",
] as const);

async function decide(
  deps: KeyDeps,
  object: DeclaredObject<"PlatformKey">,
  rows: DeclaredRows | undefined,
): Promise<{ observation: KeyObservation; plan: KeyPlan }> {
  const planOf = (observation: KeyObservation) => planKey(observation.observed, observation.rows.now);
  const observation = await observeKey(deps, object, observeSecret, rows);
  const plan = planOf(observation);
  const isAssumed = !observation.isRead && observation.observed.secret.state !== "absent";
  if (!isAssumed || !NEEDS_READ.has(plan.action.do)) return { observation, plan };
  const read = await observeKey(deps, object, readSecretOf);
  return { observation: read, plan: planOf(read) };
}
