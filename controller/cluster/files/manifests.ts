/**
 * Keeps the objects as the folder of manifests declares them. A declaration with a fault keeps its last good content
 * and stops no other; what is missing is removed only as removal.ts decides.
 */
import { formatFault } from "../../../domain/manifest/fault.ts";
import type { SecretManifest } from "../../../domain/manifest/validate.ts";
import type { ClusterChange, ObjectRef, SecretObject } from "../port.ts";
import { createDeclarationReader, type Declarations } from "./declarations.ts";
import { createFolderReader, type FolderReading } from "./folder.ts";
import { type Objects, refKey, titleOf } from "./objects.ts";
import { createRefusals } from "./refusals.ts";
import { decideRemoval } from "./removal.ts";
import type { StatusFiles } from "./status.ts";

const PENDING_MS = 100;
/** How many objects are written at once: disks answer many requests for a sync together. */
const BATCH = 32;

export type Manifests = {
  /** Reads the folder and applies it, until nothing in it is being written. */
  readAll(signal: AbortSignal): Promise<void>;
  /** Reads what is new and applies it. Resolves with when to look again, if that is soon. */
  look(): Promise<number | undefined>;
  /** Has the next look apply everything, since an object is gone that a manifest may declare. */
  reconsider(): void;
  /** A `Secret` manifest, as a Secret that is not ours. */
  findSecret(namespace: string, name: string): SecretObject | undefined;
};

export type ManifestsOptions = {
  readonly folder: string;
  /** DATA, which may be in that folder. */
  readonly except: string;
  readonly objects: Objects;
  readonly statusFiles: StatusFiles;
  readonly clock: { now(): number; monotonic(): number };
  readonly randomUuid: () => string;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
  readonly announce: (change: ClusterChange) => void;
};

export function createManifests(options: ManifestsOptions): Manifests {
  const { folder, objects, statusFiles, clock, randomUuid, log, announce } = options;
  const readFolder = createFolderReader(folder, clock, options.except);
  const readDeclarations = createDeclarationReader((ref) => objects.get(ref.kind, ref.namespace, ref.name)?.spec);
  const secrets = new Map<string, SecretObject>();
  const refusals = createRefusals(options);
  let applied: FolderReading["files"] | undefined;
  let declared: Declarations | undefined;
  let stale = false;
  let changedAt = clock.monotonic();
  let told = new Set<string>();
  const warn = whileItHolds((message) => log("warn", message));
  const tellUnstored = whileItHolds((message) => log("error", message));
  const tellUnremoved = whileItHolds((message) => log("error", message));

  async function look(): Promise<number | undefined> {
    const reading = await readFolder();
    if (reading.changed) changedAt = clock.monotonic();
    let now = declared;
    if (now === undefined || stale || !sameFiles(applied, reading.files)) {
      stale = false;
      now = readDeclarations(reading.files);
      tellFaults(now);
      await apply(now);
      declared = now;
      applied = reading.files;
    }
    await statusFiles.catchUp();
    return reading.pending ? PENDING_MS : removeMissing(now, reading);
  }

  /** Secrets come first: what is declared with them may refer to them. */
  async function apply(wanted: Declarations): Promise<void> {
    applySecrets(wanted);
    await applyObjects(wanted);
    await refusals.show(wanted.refusals);
  }

  async function readAll(signal: AbortSignal): Promise<void> {
    let wait = await look();
    while (wait === PENDING_MS && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, PENDING_MS));
      wait = await look();
    }
  }

  async function applyObjects({ objects: wanted }: Declarations): Promise<void> {
    const failed = await forEach([...wanted.values()], async ({ ref, spec }) => {
      if (await objects.apply(ref, spec)) announce({ of: "object", ...ref });
    });
    if (failed !== undefined) stale = true;
    tellUnstored(failed && `${failed.what} cannot be stored: ${failed.why}. It is tried again.`);
  }

  function applySecrets({ secrets: wanted }: Declarations): void {
    for (const [key, secret] of wanted) {
      if (sameSecret(secrets.get(key), secret)) continue;
      const { namespace, name, data } = secret;
      const foreign = { labels: {}, annotations: {}, owner: null, uid: "", immutable: false, marks: [] };
      secrets.set(key, { namespace, name, data, ...foreign, resourceVersion: randomUuid() });
      announce({ of: "secret", namespace, name });
    }
  }

  async function removeMissing(now: Declarations, reading: FolderReading): Promise<number | undefined> {
    const living = objects.all().filter(({ deleting }) => !deleting);
    const missing = living.filter((object) => !now.objects.has(refKey(object)));
    const missingSecrets = [...secrets].filter(([key]) => !now.secrets.has(key));
    if (missing.length + missingSecrets.length === 0) {
      warn(emptiness(now, reading));
      tellUnremoved(undefined);
      return undefined;
    }
    const decision = decideRemoval(
      {
        unreadable: reading.unreadable,
        documents: now.documents,
        faults: now.faults.filter(({ severity }) => severity === "error").length,
        unchangedFor: clock.monotonic() - changedAt,
      },
      { objects: missing, secrets: missingSecrets.length, held: living },
    );
    if (!decision.remove) {
      if ("waitMs" in decision) return decision.waitMs;
      warn(decision.warning);
      return undefined;
    }
    warn(undefined);
    const gone = missing.map(({ kind, namespace, name }) => ({ ref: { kind, namespace, name } }));
    const failed = await forEach(gone, async ({ ref }) => {
      if (await objects.remove(ref)) announce({ of: "object", ...ref });
    });
    tellUnremoved(failed && `${failed.what} cannot be removed: ${failed.why}. It is tried again.`);
    for (const [key, { namespace, name }] of missingSecrets) {
      secrets.delete(key);
      announce({ of: "secret", namespace, name });
    }
    return undefined;
  }

  function emptiness(now: Declarations, reading: FolderReading): string | undefined {
    if (reading.unreadable !== undefined) return `the manifests cannot be read in full: ${reading.unreadable}`;
    return now.documents === 0 ? `there are no manifests in ${folder}: nothing is declared` : undefined;
  }

  function tellFaults({ faults }: Declarations): void {
    const before = told;
    told = new Set(faults.map(formatFault));
    for (const fault of faults) {
      const line = formatFault(fault);
      if (!before.has(line)) log(fault.severity === "error" ? "error" : "warn", line);
    }
  }

  return {
    readAll,
    look,
    reconsider() {
      stale = true;
    },
    findSecret: (namespace, name) => secrets.get(`${namespace}/${name}`),
  };
}

/** Says a message once for as long as it holds. */
function whileItHolds(say: (message: string) => void): (message: string | undefined) => void {
  let last: string | undefined;
  return (message) => {
    if (message !== undefined && message !== last) say(message);
    last = message;
  };
}

/** Does it for each, many at once. One that fails stops no other: resolves with the first that did. */
async function forEach<T extends { readonly ref: ObjectRef }>(
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<{ what: string; why: string } | undefined> {
  const failures: { ref: ObjectRef; error: unknown }[] = [];
  for (let i = 0; i < all.length; i += BATCH) {
    const batch = all.slice(i, i + BATCH);
    await Promise.all(batch.map((one) => work(one).catch((error: unknown) => failures.push({ ref: one.ref, error }))));
  }
  const [first, ...others] = failures;
  if (first === undefined) return undefined;
  const why = first.error instanceof Error ? first.error.message : String(first.error);
  return { what: `${titleOf(first.ref)}${others.length === 0 ? "" : ` (and ${others.length} more)`}`, why };
}

const sameFiles = (a: FolderReading["files"] | undefined, b: FolderReading["files"]) =>
  a !== undefined && a.length === b.length && a.every((file, i) => file === b[i]);

function sameSecret(a: SecretObject | undefined, b: SecretManifest): boolean {
  const keys = Object.keys(a?.data ?? {});
  return (
    a !== undefined && keys.length === Object.keys(b.data).length && keys.every((key) => a.data[key] === b.data[key])
  );
}
