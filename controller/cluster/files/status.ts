/**
 * DATA/status/<namespace or _cluster>/<Kind>/<name>.json: every object as `kubectl get -o json` would show it. A
 * declaration that was never admitted has a file too, without a uid, so that its author finds out why. All of it
 * follows from what is decided elsewhere: a file that cannot be written is reported, holds nothing up, and is written
 * later.
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorText } from "../../../domain/error-text.ts";
import { API_VERSION } from "../../../domain/kinds/kinds.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import { createSerial } from "../../../runtime/serial.ts";
import type { Condition, DeclaredObject, ObjectRef, ObjectStatus } from "../port.ts";
import { ensureFolder, readJson, removeFile, replaceFile, standingAt } from "./disk.ts";
import { objectFile } from "./paths.ts";

/** Object of the cluster, with the time its removal was requested, in milliseconds since the epoch. */
export type FilesObject = DeclaredObject & { readonly deletedAt: number | null };

export type StatusFiles = {
  /** Reads the status as last written; undefined if nothing readable was. */
  load(ref: ObjectRef): Promise<ObjectStatus | undefined>;
  write(object: FilesObject): Promise<void>;
  /** Writes, for a declaration without an object, why it was not admitted, unless that is there already. */
  writeRefusal(ref: ObjectRef, refusal: Condition): Promise<void>;
  remove(ref: ObjectRef): Promise<void>;
  /** Removes the files that belong to none of these objects. */
  prune(objects: readonly ObjectRef[]): Promise<void>;
  /** Retries what could not be written or removed. */
  catchUp(): Promise<void>;
};

/** @param report called for each file that cannot be kept up to date, once until that succeeds again */
export function createStatusFiles(root: string, report: (message: string) => void): StatusFiles {
  const serially = createSerial();
  /** Work that is still to be done, by path: the last that was requested. */
  const owed = new Map<string, () => Promise<void>>();
  const reported = new Set<string>();

  /** Does the work that was last requested for a file. Never fails. */
  function keep(path: string, work: () => Promise<void>): Promise<void> {
    owed.set(path, work);
    return serially(path, async () => {
      const last = owed.get(path);
      if (last === undefined) return;
      try {
        await last();
        if (owed.get(path) === last) owed.delete(path);
        reported.delete(path);
      } catch (error) {
        if (!reported.has(path)) report(`${path} cannot be kept up: ${errorText(error)}. It is tried again.`);
        reported.add(path);
      }
    });
  }

  async function save(ref: ObjectRef, metadata: Record<string, unknown>, rest: Record<string, unknown>): Promise<void> {
    const { kind, namespace, name } = ref;
    const path = objectFile(root, ref);
    const shown = {
      apiVersion: API_VERSION,
      kind,
      metadata: { name, ...(namespace === "" ? {} : { namespace }), ...metadata },
      ...rest,
    };
    await ensureFolder(dirname(path), root);
    await replaceFile(path, `${JSON.stringify(shown, null, 2)}\n`, false);
  }

  async function load(ref: ObjectRef): Promise<ObjectStatus | undefined> {
    const path = objectFile(root, ref);
    if ((await standingAt(dirname(path), root)) !== "folder") return undefined;
    const shown = await readJson(path);
    return isRecord(shown) && isRecord(shown.status) ? shown.status : undefined;
  }

  function saveObject(object: FilesObject): Promise<void> {
    const { uid, generation, labels, finalizers, spec, status, createdAt, deletedAt } = object;
    return save(
      object,
      {
        uid,
        generation,
        creationTimestamp: rfc3339(createdAt),
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        ...(deletedAt === null ? {} : { deletionTimestamp: rfc3339(deletedAt) }),
        ...(finalizers.length === 0 ? {} : { finalizers }),
      },
      { spec, ...(status === undefined ? {} : { status }) },
    );
  }

  async function saveRefusal(ref: ObjectRef, refusal: Condition): Promise<void> {
    const before = await load(ref).catch(() => undefined);
    if (before?.conditions?.[0]?.message === refusal.message) return;
    await save(ref, {}, { status: { conditions: [refusal] } });
  }

  async function pruneExcept(wanted: ReadonlySet<string>): Promise<void> {
    if ((await standingAt(root, root)) !== "folder") return;
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isDirectory() && !wanted.has(path)) await removeFile(path, root);
    }
  }

  return {
    load: (ref) => load(ref).catch(() => undefined),
    write: (object) => keep(objectFile(root, object), () => saveObject(object)),
    writeRefusal: (ref, refusal) => keep(objectFile(root, ref), () => saveRefusal(ref, refusal)),
    remove: (ref) => keep(objectFile(root, ref), () => removeFile(objectFile(root, ref), root)),
    async prune(objects) {
      const wanted = new Set(objects.map((ref) => objectFile(root, ref)));
      await pruneExcept(wanted).catch((error: unknown) => report(`while tidying ${root}: ${errorText(error)}`));
    },
    async catchUp() {
      await Promise.all([...owed].map(([path, work]) => keep(path, work)));
    },
  };
}
