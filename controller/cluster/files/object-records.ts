/**
 * DATA/objects/<namespace or _cluster>/<Kind>/<name>.json: each object that the manifests declare, without its status.
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KINDS } from "../../../domain/kinds/kinds.ts";
import type { ObjectRef } from "../port.ts";
import { assertNoLink, ensureFolder, readJson, removeFile, replaceFile, whenMissing } from "./disk.ts";
import { isObjectFolder, isObjectName, namespaceOfFolder, objectFile } from "./paths.ts";
import type { FilesObject } from "./status.ts";

/** Content of a file; the rest of an object is in its path. Times are milliseconds since the epoch. */
type ObjectRecord = Pick<
  FilesObject,
  "uid" | "generation" | "finalizers" | "createdAt" | "deletedAt" | "spec" | "takeOver" | "labels"
>;

export type ObjectRecords = {
  /**
   * Reads every object that has a record.
   *
   * @throws Error if one of them cannot be read, or a link could hide some
   */
  all(): AsyncGenerator<readonly [ObjectRef, ObjectRecord]>;
  /**
   * Reads the record on the disk; undefined if there is none.
   *
   * @throws Error if it cannot be read, or it is not known whether there is one
   */
  find(ref: ObjectRef): Promise<ObjectRecord | undefined>;
  save(object: ObjectRef & ObjectRecord): Promise<void>;
  remove(ref: ObjectRef): Promise<void>;
};

export function createObjectRecords(root: string): ObjectRecords {
  return {
    async *all() {
      for (const folder of (await readdir(root)).filter(isObjectFolder)) {
        for (const kind of KINDS) {
          // The files behind a link may be another's, and without them we would not know which keys are declared.
          await assertNoLink(join(root, folder, kind), root);
          const files = await readdir(join(root, folder, kind)).catch(whenMissing<string[]>([]));
          for (const file of files) {
            const ref = { kind, namespace: namespaceOfFolder(folder), name: file.replace(/\.json$/, "") };
            if (!file.endsWith(".json") || !isObjectName(ref.name)) continue;
            const path = objectFile(root, ref);
            yield [ref, recordIn(path, await readJson(path))];
          }
        }
      }
    },
    async find(ref) {
      // Fails if the folder is missing: then a missing file says nothing.
      await readdir(root);
      const path = objectFile(root, ref);
      const record = await readJson(path);
      return record === undefined ? undefined : recordIn(path, record);
    },
    async save(object) {
      const { uid, generation, finalizers, createdAt, deletedAt, spec, takeOver, labels } = object;
      const record: ObjectRecord = { uid, generation, finalizers, createdAt, deletedAt, spec, takeOver, labels };
      const path = objectFile(root, object);
      await ensureFolder(dirname(path), root);
      await replaceFile(path, JSON.stringify(record));
    },
    remove: (ref) => removeFile(objectFile(root, ref), root),
  };
}

function recordIn(path: string, record: unknown): ObjectRecord {
  if (typeof record === "object" && record !== null && "uid" in record && "spec" in record && "deletedAt" in record) {
    return record as ObjectRecord;
  }
  throw new Error(`${path} does not hold what keyplane wrote there: put it back from a backup, or delete it`);
}
