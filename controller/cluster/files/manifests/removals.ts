/**
 * Carries out what removal.ts decides on objects that are gone from the manifests, and reports those that are held
 * back.
 */
import { errorText } from "../../../../domain/error-text.ts";
import { formatDiagnostic } from "../../../../domain/manifest/document/diagnostic.ts";
import type { ClusterChange, ObjectRef } from "../../port.ts";
import type { SecretName } from "../../secret-names.ts";
import { listTitles } from "../../titles.ts";
import { forEach } from "../for-each.ts";
import { createHeldFile, type HeldNote } from "../held.ts";
import type { FilesObjects } from "../objects.ts";
import { sayNew, whileItHolds } from "../say-once.ts";
import type { Declarations } from "./declarations.ts";
import type { DeclaredSecrets } from "./declared-secrets.ts";
import type { FolderReading } from "./folder.ts";
import { findMissing, type MissingObject } from "./missing.ts";
import type { Origins } from "./origins.ts";
import { listNames, type QuietPeriod } from "./quiet-period.ts";
import { DOUBT_MS, decideRemoval, SETTLE_MS } from "./removal.ts";

export type RemovalsOptions = {
  /** Folder of manifests. */
  readonly folder: string;
  readonly data: string;
  readonly objects: FilesObjects;
  readonly origins: Origins;
  readonly secrets: Pick<DeclaredSecrets, "all" | "remove">;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
  readonly announce: (change: ClusterChange) => void;
};

export type Removals = {
  /**
   * Removes the objects that are gone, as far as that is believed.
   *
   * @returns `lookAgainMs`, the milliseconds until it must look again, if that is soon; `isRemoved`, true if anything
   * was removed; `isTakenOver`, true if a declaration that had no effect counts now
   */
  removeMissing(
    now: Declarations,
    reading: FolderReading,
    rest: QuietPeriod,
  ): Promise<{ readonly lookAgainMs?: number; readonly isRemoved: boolean; readonly isTakenOver: boolean }>;
};

export function createRemovals({ folder, data, objects, origins, secrets, log, announce }: RemovalsOptions): Removals {
  const writeHeld = createHeldFile(data);
  const tellHeld = sayNew((message) => log("warn", message));
  const tellUnremoved = whileItHolds((message) => log("error", message));
  const tellUnwritten = whileItHolds((message) => log("error", message));

  /** Removes objects. If a removal fails, the object is still missing and keeps its origin: it is decided on anew. */
  async function remove(gone: readonly MissingObject[], now: Declarations): Promise<boolean> {
    const removed = new Set<ObjectRef>();
    const refs = gone.flatMap(({ key, kind, namespace, name }) =>
      kind === "Secret" || now.contested.has(key) ? [] : [{ key, ref: { kind, namespace, name } }],
    );
    const failed = await forEach(refs, async ({ key, ref }) => {
      if (await objects.remove(ref)) announce({ of: "object", ...ref });
      origins.forget(key);
      removed.add(ref);
    });
    const inOrder = refs.map(({ ref }) => ref).filter((ref) => removed.has(ref));
    if (inOrder.length > 0) log("info", `gone from the manifests, and removed: ${listTitles(inOrder, MAX_TITLES)}`);
    tellUnremoved(failed && `${failed.what} cannot be removed: ${failed.why}. It is tried again.`);
    for (const { kind, key, namespace, name } of gone) {
      if (now.contested.has(key)) origins.forget(key);
      else if (kind === "Secret") {
        origins.forget(key);
        secrets.remove({ namespace, name });
        announce({ of: "secret", namespace, name });
      }
    }
    return gone.some(({ key }) => now.contested.has(key));
  }

  async function note(held: readonly HeldNote[]): Promise<void> {
    const failure = await writeHeld(held).then(
      () => undefined,
      (error: unknown) => `what is held cannot be written down: ${errorText(error)}. It is tried again.`,
    );
    tellUnwritten(failure);
  }

  /** Reports the objects that are not removed, and why. */
  async function hold(
    missing: readonly (MissingObject & { readonly why: string })[],
    now: Declarations,
  ): Promise<void> {
    const notes = missing.map(({ kind, namespace, name, why }) => ({ kind, namespace, name, why }));
    await note([...notes, ...faulty(now)]);
    tellHeld([...Map.groupBy(notes, ({ why }) => why)].map(([why, all]) => `${goneText(all)}: ${why}`));
  }

  function emptiness(now: Declarations, { unreadable }: FolderReading): string[] {
    if (unreadable !== undefined) return [`the manifests cannot be read in full: ${unreadable}`];
    return now.documents === 0 ? [`there are no manifests in ${folder}: nothing is declared`] : [];
  }

  /** Returns the objects that go on as they were, since their declaration has a fault. */
  function faulty({ refusals }: Declarations): HeldNote[] {
    return refusals.flatMap(({ ref, diagnostics: [diagnostic] }) =>
      objects.get(ref.kind, ref.namespace, ref.name) === undefined || diagnostic === undefined
        ? []
        : [{ ...ref, why: formatDiagnostic(diagnostic) }],
    );
  }

  return {
    async removeMissing(now, reading, { unchangedForMs, restless }) {
      const held = objects.all().filter(({ deleting }) => !deleting);
      const all = [...held, ...secrets.all().map(asMissing)];
      const missing = findMissing(all, (key) => origins.get(key)?.origin, now, reading);
      if (missing.length === 0) {
        tellUnremoved(undefined);
        await note(faulty(now));
        tellHeld(emptiness(now, reading));
        return { isRemoved: false, isTakenOver: false };
      }
      const isStill = reading.pending.length === 0;
      const view = {
        unreadable: reading.unreadable,
        documents: now.documents,
        unchangedFor: isStill ? unchangedForMs : 0,
      };
      const decision = decideRemoval(view, missing, held);
      if (!decision.isSettled) {
        if (restless.length > 0)
          await hold(
            missing.map((one) => ({ ...one, why: restlessText(restless) })),
            now,
          );
        return { lookAgainMs: decision.lookAgainMs, isRemoved: false, isTakenOver: false };
      }
      const waiting = decision.wait.map((one) => ({ ...one, why: WAITING }));
      const holding = decision.hold.map(({ missing: one, why }) => ({ ...one, why }));
      await hold([...holding, ...waiting], now);
      const isTakenOver = await remove(decision.remove, now);
      const { lookAgainMs } = decision;
      const isRemoved = decision.remove.length > 0;
      return { ...(lookAgainMs === undefined ? {} : { lookAgainMs }), isRemoved, isTakenOver };
    },
  };
}

const WAITING = `what does not come back ends after ${DOUBT_MS / 1_000} s without a change.`;
const restlessText = (names: readonly string[]) =>
  `${listNames(names)} all the time, and nothing is removed before the folder has been unchanged for ${SETTLE_MS / 1_000} s. ` +
  "Leave it alone for so long; to end a key meanwhile, declare it anywhere here with `state: Revoked`.";
const MAX_TITLES = 3;

const asMissing = ({ namespace, name }: SecretName) => ({ kind: "Secret" as const, namespace, name });

function goneText(all: readonly HeldNote[]): string {
  const what = all.length === 1 ? "1 declaration is" : `${all.length} declarations are`;
  return `${what} gone from the manifests (${listTitles(all, MAX_TITLES)})`;
}
