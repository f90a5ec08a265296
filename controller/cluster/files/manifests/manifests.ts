/**
 * Keeps the objects as the folder of manifests declares them. A declaration with a fault keeps its last good content
 * and stops no other. A missing object is removed only as removal.ts decides.
 */
import type { WatchEventType } from "node:fs";
import { errorText } from "../../../../domain/error-text.ts";
import { formatDiagnostic } from "../../../../domain/manifest/document/diagnostic.ts";
import type { ClusterChange, ObjectRef } from "../../port.ts";
import { forEach } from "../for-each.ts";
import { refKey } from "../object-store.ts";
import type { FilesObjects } from "../objects.ts";
import { sayNew, whileItHolds } from "../say-once.ts";
import type { StatusFiles } from "../status.ts";
import { createArrivals } from "./arrivals.ts";
import { createDeclarationReader, type Declarations } from "./declarations.ts";
import { createDeclaredSecrets, type DeclaredSecrets } from "./declared-secrets.ts";
import { createFolderReader, type FolderReading, QUIET_MS } from "./folder.ts";
import { lastSeenIn } from "./last-seen.ts";
import { type Origins, secretKey } from "./origins.ts";
import { createQuietPeriod, listNames, RESTLESS_MS } from "./quiet-period.ts";
import { createRefusals } from "./refusals.ts";
import { createRemovals } from "./removals.ts";

const PENDING_MS = 100;

export type Manifests = {
  /** Reads the folder and applies it, until nothing in it is being written. */
  readAll(signal: AbortSignal): Promise<void>;
  /** Reads what is new and applies it. Resolves with the milliseconds until it must look again, if that is soon. */
  look(): Promise<number | undefined>;
  /** Notes a notification of the kernel for a path below the folder. */
  touched(path: string, event: WatchEventType): void;
  /** Makes the next look apply everything, since an object is gone that a manifest may declare. */
  reconsider(): void;
  readonly findSecret: DeclaredSecrets["find"];
};

export type ManifestsOptions = {
  readonly folder: string;
  /** DATA folder, which may be in the folder of manifests. */
  readonly data: string;
  readonly objects: FilesObjects;
  readonly origins: Origins;
  readonly statusFiles: StatusFiles;
  readonly clock: { now(): number; monotonic(): number };
  readonly randomUuid: () => string;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
  readonly announce: (change: ClusterChange) => void;
};

export function createManifests(options: ManifestsOptions): Manifests {
  const { folder, objects, origins, statusFiles, clock, randomUuid, log, announce } = options;
  const arrivals = createArrivals();
  const readFolder = createFolderReader({ root: folder, clock, arrivals, except: options.data });
  const secrets = createDeclaredSecrets(origins.secrets(), randomUuid);
  const readDeclarations = createDeclarationReader({
    spec: (ref) => objects.get(ref.kind, ref.namespace, ref.name)?.spec,
    secrets,
    sighting: origins.get,
  });
  const refusals = createRefusals(options);
  const removals = createRemovals({ ...options, secrets });
  let declared: Declarations | undefined;
  let applied: { files: FolderReading["files"]; isComplete: boolean } | undefined;
  let stale = false;
  const noteRest = createQuietPeriod(clock);
  const tellWritten = whileItHolds((message) => log("warn", message));
  const tellUnstored = whileItHolds((message) => log("error", message));
  const tellErrors = sayNew((message) => log("error", message));
  const tellWarnings = sayNew((message) => log("warn", message));
  const tellNotes = sayNew((message) => log("info", message));

  async function look(): Promise<number | undefined> {
    const reading = await readFolder();
    const rest = noteRest(reading);
    const isWritten = reading.pending.length > 0;
    const isComplete = !isWritten && reading.unreadable === undefined;
    let now = declared;
    if (now === undefined || stale || applied?.isComplete !== isComplete || !sameFiles(applied.files, reading.files)) {
      stale = false;
      now = readDeclarations(reading.files, isComplete);
      tellFaults(now);
      await apply(now, reading);
      declared = now;
      applied = { files: reading.files, isComplete };
    } else if (reading.changed.length > 0) await remember(now, reading);
    await statusFiles.catchUp();
    const isRestless = rest.restless.length > 0;
    if (!isRestless) tellWritten(undefined);
    else if (isWritten && rest.unchangedForMs >= RESTLESS_MS) tellWritten(writtenText(rest.restless));
    if (isWritten && !isRestless) return PENDING_MS;
    const removal = await removals.removeMissing(now, reading, rest);
    if (removal.isRemoved) await remember(now, reading);
    if (!removal.isTakenOver) return removal.lookAgainMs;
    stale = true;
    return 0;
  }

  /** Applies the declarations. Secrets come first: objects that are declared with them may refer to them. */
  async function apply(wanted: Declarations, reading: FolderReading): Promise<void> {
    for (const secret of wanted.secrets.values()) {
      if (secrets.apply(secret)) announce({ of: "secret", namespace: secret.namespace, name: secret.name });
    }
    const at = clock.now();
    const changed: ObjectRef[] = [];
    const failed = await forEach([...wanted.objects.values()], async ({ ref, ...declared }) => {
      if (await objects.apply(ref, declared, at)) changed.push(ref);
    });
    // Only now: no object is announced before another that is declared with it because it was stored sooner.
    for (const ref of changed) announce({ of: "object", ...ref });
    if (failed !== undefined) stale = true;
    tellUnstored(failed && `${failed.what} cannot be stored: ${failed.why}. It is tried again.`);
    await remember(wanted, reading);
    await refusals.show(wanted.refusals);
  }

  async function readAll(signal: AbortSignal): Promise<void> {
    let wait = await look();
    while (wait === PENDING_MS && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, PENDING_MS));
      wait = await look();
    }
  }

  /**
   * Keeps the locations where all existing objects are declared; for an object that cannot be seen now, where it was.
   */
  async function remember(now: Declarations, reading: FolderReading): Promise<void> {
    const keys = [...objects.all().map(refKey), ...secrets.all().map(secretKey)];
    await origins.keep(lastSeenIn(keys, origins.get, now, reading)).catch((error: unknown) => {
      stale = true;
      tellUnstored(`where everything is declared cannot be stored: ${errorText(error)}. It is tried again.`);
    });
  }

  function tellFaults({ diagnostics }: Declarations): void {
    const { error = [], warning = [], note = [] } = Object.groupBy(diagnostics, ({ severity }) => severity);
    tellErrors(error.map(formatDiagnostic));
    tellWarnings(warning.map(formatDiagnostic));
    tellNotes(note.map(formatDiagnostic));
  }

  return {
    readAll,
    look,
    touched: arrivals.note,
    reconsider() {
      stale = true;
    },
    findSecret: secrets.find,
  };
}

function writtenText(names: readonly string[]): string {
  return `${listNames(names)} all the time: what is written there counts once it has been left alone for ${QUIET_MS} ms`;
}

const sameFiles = (a: FolderReading["files"], b: FolderReading["files"]) =>
  a.length === b.length && a.every((file, i) => file === b[i]);
