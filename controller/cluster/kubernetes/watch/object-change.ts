import { isDeepStrictEqual } from "node:util";
import { FINALIZER, type ObjectStatus } from "../../port.ts";
import type { CheckedObject } from "./read-object.ts";

/**
 * True if a change of an object has to be reconciled. A status that another writer has changed is put right again.
 *
 * @param expected the status that is being written by this process: it is no change
 */
export function needsReconciling(
  before: CheckedObject,
  now: CheckedObject,
  expected: ObjectStatus | undefined,
): boolean {
  const a = before.object;
  const b = now.object;
  return (
    a.generation !== b.generation ||
    // If a server was restored, there may be two specs of one generation, before and after.
    (a.spec !== b.spec && !isDeepStrictEqual(a.spec, b.spec)) ||
    a.takeOver !== b.takeOver ||
    a.deleting !== b.deleting ||
    (a.kind === "PlatformTeam" && !isDeepStrictEqual(a.labels, b.labels)) ||
    before.problem !== now.problem ||
    (a.finalizers.includes(FINALIZER) && !b.finalizers.includes(FINALIZER)) ||
    !(isDeepStrictEqual(a.status, b.status) || isDeepStrictEqual(expected, b.status))
  );
}
