import { errorText } from "../domain/error-text.ts";
import type { ClusterEvent, DeclaredObject } from "./cluster/port.ts";
import { titleOf } from "./cluster/titles.ts";
import type { ControllerDeps } from "./deps.ts";

/** Records an event. It informs people: that it cannot be written holds up nothing. */
export async function recordEvent(deps: ControllerDeps, object: DeclaredObject, event: ClusterEvent): Promise<void> {
  try {
    await deps.cluster.recordEvent(object, event);
  } catch (error) {
    deps.log("warn", `no event for ${titleOf(object)}: ${errorText(error)}`);
  }
}
