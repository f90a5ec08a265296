import type { KeyPlan } from "../../domain/key/plan/plan-key.ts";
import { StaleLeaderError } from "../../store/database/errors.ts";
import { recordKeyConditions } from "../../store/objects/object-conditions.ts";
import { reportBudgets } from "../budgets/report-budgets.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";
import { retryingStatus } from "../context/object-status.ts";
import { writeStatus } from "../context/status-write.ts";
import type { KeyDeps } from "./key-deps.ts";
import type { KeyObservation } from "./key-observation.ts";
import { isConfirming, isReady, keyStatus } from "./key-status.ts";
import { reportNotices } from "./notices.ts";
import { recordFound } from "./record-found.ts";

/** Error of a step, with what the key was found to be before it. The cause is what the step failed with. */
export class FailedStep extends Error {
  readonly observation: KeyObservation;
  readonly plan: KeyPlan;

  constructor(cause: unknown, observation: KeyObservation, plan: KeyPlan) {
    super("a step failed", { cause });
    this.observation = observation;
    this.plan = plan;
  }
}

/**
 * Awaits a task and, if it fails, writes the failure to the status, with what was found not to be as declared before
 * it.
 *
 * @throws the error of the task; for a failed step, its cause
 */
export async function reportFailureInStatus<T>(
  deps: KeyDeps,
  { namespace, name }: Pick<DeclaredObject, "namespace" | "name">,
  signal: AbortSignal,
  task: Promise<T>,
): Promise<T> {
  try {
    return await task;
  } catch (failure) {
    const step = failure instanceof FailedStep ? failure : undefined;
    const error = step === undefined ? failure : step.cause;
    if (error instanceof StaleLeaderError || signal.aborted) throw error;
    const object = deps.cluster.get("PlatformKey", namespace, name);
    // The status of a key that cannot be read says so, and nothing here would take this off it again.
    if (object !== undefined && !object.isUnread) {
      const found = step && (await foundBefore(deps, step, object));
      const status = retryingStatus(
        found === undefined ? object : { ...object, status: found },
        error,
        deps.clock.now(),
      );
      await writeStatus(deps, object, status);
      const { keyID, conditions = [] } = status;
      // The store may be what failed.
      if (typeof keyID === "string") await recordKeyConditions(deps.store.db, keyID, conditions).catch(() => {});
    }
    throw error;
  }
}

/** Conditions that no step changes: they say what is news of a key that works. */
const BESIDE_READY: ReadonlySet<string> = new Set(["StaleConsumers", "Leaked", "PolicyViolated", "BudgetExhausted"]);

/**
 * Returns the status to write after a failed step, with the key's notices sent: as the key was found before the step, if
 * that says what is not as declared, or the step is a restart, before which all is; else the status of before with what
 * is news beside Ready, as of a ready key that is yet to be confirmed. Undefined if the key has changed since.
 */
async function foundBefore(
  deps: KeyDeps,
  { observation, plan }: FailedStep,
  { resourceVersion }: DeclaredObject,
): Promise<ObjectStatus | undefined> {
  const { object, rows } = observation;
  if (object.resourceVersion !== resourceVersion) return undefined;
  const status = keyStatus(observation, plan, rows.now);
  const isKept = isConfirming(status) ? isReady(object.status) : isReady(status) && plan.action.do !== "Restart";
  if (isKept) {
    await reportNotices(deps, object, status);
    await reportBudgets(deps, object, status, observation.budgets);
    const { expiryWarned, staleConsumer, conditions = [] } = status;
    const kept = object.status?.conditions?.filter(({ type }) => !BESIDE_READY.has(type)) ?? [];
    const found = conditions.filter(({ type }) => BESIDE_READY.has(type));
    return { ...object.status, expiryWarned, staleConsumer, conditions: [...kept, ...found] };
  }
  await recordFound(deps, observation, status);
  return status;
}
