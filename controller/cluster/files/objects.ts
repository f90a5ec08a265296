/**
 * The objects that the manifests declare, as an API server would hold them. A uid is random and dies with its object.
 * What is read comes from memory; what is changed is on the disk before it is seen.
 */
import { isDeepStrictEqual } from "node:util";
import type { Presence } from "../../../domain/garbage-collection.ts";
import type { Kind } from "../../../domain/kinds/kinds.ts";
import { createSerial } from "../../../runtime/serial.ts";
import { ClusterError, type DeclaredObject, FINALIZER, type ObjectRef, type ObjectStatus } from "../port.ts";
import { titleOf } from "../titles.ts";
import { ensureFolder } from "./disk.ts";
import { createObjectRecords } from "./object-records.ts";
import type { HeldObject, StatusFiles } from "./status.ts";

export type Objects = {
  get<K extends Kind>(kind: K, namespace: string, name: string): DeclaredObject<K> | undefined;
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[];
  all(): readonly HeldObject[];
  /** Whether the disk, too, has no such object: one goes by a removal that was decided on, and its file with it. */
  lookUp(ref: ObjectRef, uid: string): Promise<Presence>;
  /** Makes the object, or changes its spec or labels, also while it is going. Resolves with whether anything changed. */
  apply(ref: ObjectRef, declared: Declared): Promise<boolean>;
  /** Asks for the removal. Without finalizers the object goes at once. Resolves with whether anything changed. */
  remove(ref: ObjectRef): Promise<boolean>;
  addFinalizer(object: DeclaredObject): Promise<void>;
  /** Resolves with whether the object is gone by this. */
  removeFinalizer(object: DeclaredObject): Promise<boolean>;
  writeStatus(object: DeclaredObject, status: ObjectStatus): Promise<void>;
};

/** What a manifest says of an object. */
type Declared = Pick<HeldObject, "spec" | "takeOver" | "labels">;

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
  const records = createObjectRecords(root);
  const held = new Map<string, HeldObject>();
  const serially = createSerial();
  let revisions = 0;

  async function save(object: Omit<HeldObject, "resourceVersion">): Promise<void> {
    await records.save(object);
    await show(object);
  }

  async function show(object: Omit<HeldObject, "resourceVersion">): Promise<void> {
    const next = { ...object, resourceVersion: String(++revisions) };
    held.set(refKey(object), next);
    await statusFiles.write(next);
  }

  async function drop(object: HeldObject): Promise<void> {
    await records.remove(object);
    held.delete(refKey(object));
    await statusFiles.remove(object);
  }

  /** The object as it is now, when it is still the one that was read. */
  function current(object: DeclaredObject): HeldObject | undefined {
    const now = held.get(refKey(object));
    return now?.uid === object.uid ? now : undefined;
  }

  async function apply(ref: ObjectRef, { spec, takeOver, labels }: Declared): Promise<boolean> {
    const now = held.get(refKey(ref));
    if (now === undefined) {
      const { kind, namespace, name } = ref;
      const born = { uid: randomUuid(), generation: 1, createdAt: clock.now(), deletedAt: null, deleting: false };
      await save({ kind, namespace, name, ...born, finalizers: [], spec, takeOver, labels, status: undefined });
      return true;
    }
    const isSame = isDeepStrictEqual(now.spec, spec);
    if (isSame && now.takeOver === takeOver && isDeepStrictEqual(now.labels, labels)) return false;
    await save({ ...now, spec, takeOver, labels, generation: isSame ? now.generation : now.generation + 1 });
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
      return (await records.find(ref))?.uid === uid ? "present" : "gone";
    } catch {
      return "unknown";
    }
  }

  for await (const [ref, record] of records.all()) {
    const rest = { deleting: record.deletedAt !== null, status: await statusFiles.load(ref) };
    held.set(refKey(ref), { ...ref, ...record, ...rest, resourceVersion: String(++revisions) });
  }
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
    apply: (ref, declared) => serially(refKey(ref), () => apply(ref, declared)),
    remove: (ref) => serially(refKey(ref), () => remove(ref)),
    addFinalizer: (object) => serially(refKey(object), () => addFinalizer(object)),
    removeFinalizer: (object) => serially(refKey(object), () => removeFinalizer(object)),
    writeStatus: (object, status) => serially(refKey(object), () => writeStatus(object, status)),
  };
}
