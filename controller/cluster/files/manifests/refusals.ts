/**
 * Status of objects that a manifest declares and that were never admitted for their faults, so that their author finds
 * out. An object that was admitted once keeps its own status: its last good declaration goes on.
 */
import { condition } from "../../../../domain/conditions.ts";
import { formatDiagnostic } from "../../../../domain/manifest/document/diagnostic.ts";
import { rfc3339 } from "../../../../domain/rfc3339.ts";
import type { ObjectRef } from "../../port.ts";
import { refKey } from "../object-store.ts";
import type { FilesObjects } from "../objects.ts";
import type { StatusFiles } from "../status.ts";
import type { InvalidManifest } from "./declarations.ts";

export type Refusals = {
  /** Shows these refusals, and no others any more. The first call also removes every status that belongs to nothing. */
  show(refusals: readonly InvalidManifest[]): Promise<void>;
};

export function createRefusals({
  objects,
  statusFiles,
  clock,
}: {
  readonly objects: Pick<FilesObjects, "get" | "all">;
  readonly statusFiles: StatusFiles;
  readonly clock: { now(): number };
}): Refusals {
  const isAdmitted = ({ kind, namespace, name }: ObjectRef) => objects.get(kind, namespace, name) !== undefined;
  let shown: ReadonlyMap<string, { ref: ObjectRef; message: string }> | undefined;

  async function write(ref: ObjectRef, message: string): Promise<void> {
    const accepted = condition("Accepted", "False", "Invalid", message);
    const lastTransitionTime = rfc3339(clock.now());
    await statusFiles.writeRefusal(ref, { ...accepted, observedGeneration: 0, lastTransitionTime });
  }

  return {
    async show(refusals) {
      const next = new Map<string, { ref: ObjectRef; message: string }>();
      for (const { ref, diagnostics } of refusals) {
        if (isAdmitted(ref)) continue;
        const message = diagnostics.map(formatDiagnostic).join("; ");
        next.set(refKey(ref), { ref, message });
        if (shown?.get(refKey(ref))?.message !== message) await write(ref, message);
      }
      for (const [key, { ref }] of shown ?? []) {
        if (!next.has(key) && !isAdmitted(ref)) await statusFiles.remove(ref);
      }
      if (shown === undefined) await statusFiles.prune([...objects.all(), ...[...next.values()].map(({ ref }) => ref)]);
      shown = next;
    },
  };
}
