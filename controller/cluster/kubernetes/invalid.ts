/** Says of an object that is not valid by this version's schema why it is not worked on; its key stays as it was. */
import { condition, progressOf } from "../../../domain/conditions.ts";
import { mergeConditions } from "../../object-status.ts";
import type { ObjectStatus } from "../port.ts";
import type { HeldObject } from "./read-object.ts";

const REPLACED: ReadonlySet<string> = new Set(["Ready", "Accepted", "Stalled", "Reconciling"]);

/** The status of such an object: not accepted and not ready; the rest as it was. */
export function invalidStatus({ object, problem }: HeldObject, now: number): ObjectStatus {
  const message = `This version of Keyplane cannot read the declaration: ${problem}.`;
  const ready = condition("Ready", "False", "Invalid", message);
  const stated = [ready, condition("Accepted", "False", "Invalid", message), ...progressOf(ready)];
  const others = object.status?.conditions?.filter(({ type }) => !REPLACED.has(type)) ?? [];
  return {
    ...object.status,
    observedGeneration: object.generation,
    conditions: [...mergeConditions(object, stated, now), ...others],
  };
}
