/**
 * The objects that the manifests declare, as an API server would hold them: DATA/objects has for each its uid, its
 * generation, its finalizers and its last good spec. A uid is random and dies with its object. What is read comes from
 * memory; what is changed is on the disk before it is seen.
 */

import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Presence } from "../../../domain/garbage-collection.ts";
import { KINDS, type Kind, type Spec } from "../../../domain/manifest/kinds.ts";
import { createSerial } from "../../serial.ts";
import { ClusterError, type DeclaredObject, FINALIZER, type ObjectRef, type ObjectStatus } from "../port.ts";
import { titleOf } from "../titles.ts";
import { assertNoLink, ensureFolder, readJson, removeFile, replaceFile, whenMissing } from "./disk.ts";
import { isObjectFolder, isObjectName, namespaceOfFolder, objectPath } from "./paths.ts";
import type { HeldObject, StatusFiles } from "./status.ts";

/** What a file of DATA/objects holds; the rest of an object is in its path. Times are milliseconds since the epoch. */
type ObjectRecord = Pick<HeldObject, "uid" | "generation" | "finalizers" | "createdAt" | "deletedAt" | "spec">;

export type Objects = {
  get<K extends Kind>(kind: K, namespace: string, name: string): DeclaredObject<K> | undefined;
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[];
  all(): readonly HeldObject[];
  /** Whether the disk, too, has no such object: one goes by a removal that was decided on, and its file with it. */
  lookUp(ref: ObjectRef, uid: string): Promise<Presence>;
  /** Makes the object, or changes its spec, also while it is going. Resolves with whether anything changed. */
  apply(ref: ObjectRef, spec: Spec): Promise<boolean>;
  /** Asks for the removal. Without finalizers the object goes at once. Resolves with whether anything changed. */
  remove(ref: ObjectRef): Promise<boolean>;
  addFinalizer(object: DeclaredObject): Promise<void>;
  /** Resolves with whether the object is gone by this. */
  removeFinalizer(object: DeclaredObject): Promise<boolean>;
  writeStatus(object: DeclaredObject, status: ObjectStatus): Promise<void>;
};

export const refKey = ({ kind, namespace, name }: ObjectRef): string => `${kind}/${namespace}/${name}`;

/**
 * Reads the objects of a DATA folder into memory.
 *
 * @throws Error where one of them cannot be read: its key would be taken for one without a declaration, and revoked
 */
export async function openObjects(
  root: string,
  statusFiles: StatusFiles,
  clock: { now(): number },
  randomUuid: () => string,
): Promise<Objects> {
  await ensureFolder(root);
  const held = new Map<string, HeldObject>();
  const serially = createSerial();
  let revisions = 0;

  async function save(object: Omit<HeldObject, "resourceVersion">): Promise<void> {
    const { uid, generation, finalizers, createdAt, deletedAt, spec } = object;
    const record: ObjectRecord = { uid, generation, finalizers, createdAt, deletedAt, spec };
    const path = objectPath(root, object);
    await ensureFolder(dirname(path), root);
    await replaceFile(path, JSON.stringify(record));
    await show(object);
  }

  async function show(object: Omit<HeldObject, "resourceVersion">): Promise<void> {
    const next = { ...object, resourceVersion: String(++revisions) };
    held.set(refKey(object), next);
    await statusFiles.write(next);
  }

  async function drop(object: HeldObject): Promise<void> {
    await removeFile(objectPath(root, object), root);
    held.delete(refKey(object));
    await statusFiles.remove(object);
  }

  /** The object as it is now, when it is still the one that was read. */
  function current(object: DeclaredObject): HeldObject | undefined {
    const now = held.get(refKey(object));
    return now?.uid === object.uid ? now : undefined;
  }

  async function load(): Promise<void> {
    for (const folder of (await readdir(root)).filter(isObjectFolder)) {
      for (const kind of KINDS) {
        // What is behind a link may be another's, and without it we would not know whose keys are whose.
        await assertNoLink(join(root, folder, kind), root);
        const files = await readdir(join(root, folder, kind)).catch(whenMissing<string[]>([]));
        for (const file of files) {
          const ref = { kind, namespace: namespaceOfFolder(folder), name: file.replace(/\.json$/, "") };
          if (!file.endsWith(".json") || !isObjectName(ref.name)) continue;
          const path = objectPath(root, ref);
          const record = recordIn(path, await readJson(path));
          const rest = { deleting: record.deletedAt !== null, status: await statusFiles.load(ref) };
          held.set(refKey(ref), { ...ref, ...record, ...rest, resourceVersion: String(++revisions) });
        }
      }
    }
  }

  async function apply(ref: ObjectRef, spec: Spec): Promise<boolean> {
    const now = held.get(refKey(ref));
    if (now === undefined) {
      const { kind, namespace, name } = ref;
      const born = { uid: randomUuid(), generation: 1, createdAt: clock.now(), deletedAt: null, deleting: false };
      await save({ kind, namespace, name, ...born, finalizers: [], spec, status: undefined });
      return true;
    }
    if (isDeepStrictEqual(now.spec, spec)) return false;
    await save({ ...now, spec, generation: now.generation + 1 });
    return true;
  }

  async function remove(ref: ObjectRef): Promise<boolean> {
    const now = held.get(refKey(ref));
    if (now === undefined || now.deleting) return false;
    if (now.finalizers.length === 0) await drop(now);
    else await save({ ...now, deleting: true, deletedAt: clock.now() });
    return true;
  }

  async function addFinalizer(object: DeclaredObject): Promise<void> {
    const now = current(object);
    const title = titleOf(object);
    if (now === undefined) throw new ClusterError("NotFound", `${title} is gone`);
    if (now.finalizers.includes(FINALIZER)) return;
    if (now.deleting) throw new ClusterError("Forbidden", `${title} is being removed: it takes no finalizer any more`);
    await save({ ...now, finalizers: [...now.finalizers, FINALIZER] });
  }

  async function removeFinalizer(object: DeclaredObject): Promise<boolean> {
    const now = current(object);
    if (now === undefined) return true;
    const finalizers = now.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    const gone = now.deleting && finalizers.length === 0;
    if (gone) await drop(now);
    else if (finalizers.length < now.finalizers.length) await save({ ...now, finalizers });
    return gone;
  }

  async function writeStatus(object: DeclaredObject, status: ObjectStatus): Promise<void> {
    const now = current(object);
    if (now !== undefined && !isDeepStrictEqual(now.status, status)) await show({ ...now, status });
  }

  async function lookUp(ref: ObjectRef, uid: string): Promise<Presence> {
    if (held.get(refKey(ref))?.uid === uid) return "present";
    try {
      await readdir(root);
      const path = objectPath(root, ref);
      const record = await readJson(path);
      return record === undefined || recordIn(path, record).uid !== uid ? "gone" : "present";
    } catch {
      return "unknown";
    }
  }

  await load();
  return {
    get<K extends Kind>(kind: K, namespace: string, name: string) {
      return held.get(refKey({ kind, namespace, name })) as DeclaredObject<K> | undefined;
    },
    list<K extends Kind>(kind: K) {
      const ofKind = (object: HeldObject): object is HeldObject & DeclaredObject<K> => object.kind === kind;
      return [...held.values()].filter(ofKind);
    },
    all: () => [...held.values()],
    lookUp,
    apply: (ref, spec) => serially(refKey(ref), () => apply(ref, spec)),
    remove: (ref) => serially(refKey(ref), () => remove(ref)),
    addFinalizer: (object) => serially(refKey(object), () => addFinalizer(object)),
    removeFinalizer: (object) => serially(refKey(object), () => removeFinalizer(object)),
    writeStatus: (object, status) => serially(refKey(object), () => writeStatus(object, status)),
  };
}

function recordIn(path: string, record: unknown): ObjectRecord {
  if (typeof record === "object" && record !== null && "uid" in record && "spec" in record && "deletedAt" in record) {
    return record as ObjectRecord;
  }
  throw new Error(`${path} does not hold what keyplane wrote there: put it back from a backup, or delete it`);
}
