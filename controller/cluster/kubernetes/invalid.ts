/** Reports why an object that is invalid by this version's schema is not worked on; its key stays as it was, or ends. */
import { setTimeout as delay } from "node:timers/promises";
import { condition, progressOf } from "../../../domain/conditions.ts";
import { errorText } from "../../../domain/error-text.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import { mergeConditions } from "../merge-conditions.ts";
import type { ObjectStatus } from "../port.ts";
import { titleOf } from "../titles.ts";
import type { ObjectWrites } from "./object-writes.ts";
import type { WatchedObjects } from "./watch/objects.ts";
import type { CheckedObject } from "./watch/read-object.ts";

/** Milliseconds to wait before a status that could not be written is tried again. */
const STATUS_RETRY_MS = 10_000;

const REPLACED: ReadonlySet<string> = new Set(["Ready", "Accepted", "Stalled", "Reconciling"]);

/** Returns the status of an invalid object: not accepted and not ready; the rest as it was. */
export function invalidStatus({ object, problem }: CheckedObject, now: number): ObjectStatus {
  const state = object.isUnread && "state" in object.spec ? object.spec.state : "Active";
  const applied = state === "Active" ? "" : ` Only its state ${state} is applied.`;
  const message = `This version of Keyplane cannot read the declaration: ${problem}.${applied}`;
  const ready = condition("Ready", "False", "Invalid", message);
  const stated = [ready, condition("Accepted", "False", "Invalid", message), ...progressOf(ready)];
  const others = object.status?.conditions?.filter(({ type }) => !REPLACED.has(type)) ?? [];
  return {
    ...object.status,
    observedGeneration: object.generation,
    conditions: [...mergeConditions(object, stated, now), ...others],
  };
}

/** Writes that to the object's status; tries until it is written, or not true any more, or the signal. */
export async function reportInvalid(
  deps: {
    readonly objects: Pick<WatchedObjects, "current">;
    readonly writes: Pick<ObjectWrites, "writeStatus">;
    readonly clock: { now(): number };
    readonly log: LogLine;
  },
  held: CheckedObject,
  signal: AbortSignal,
): Promise<void> {
  const { objects, writes, clock, log } = deps;
  const { object, problem } = held;
  log("warn", `${titleOf(object)} is not worked on: ${problem}`);
  while (!signal.aborted && objects.current(object)?.generation === object.generation) {
    try {
      return await writes.writeStatus(object, invalidStatus(held, clock.now()));
    } catch (error) {
      log("warn", errorText(error));
      await delay(STATUS_RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}
