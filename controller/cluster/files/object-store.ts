/**
 * Objects of a DATA folder, in memory and on the disk. Reads come from memory. A change is on the disk before it is
 * seen.
 */
import { KINDS, type Kind } from "../../../domain/kinds/kinds.ts";
import type { DeclaredObject, ObjectRef } from "../port.ts";
import { ensureFolder } from "./disk.ts";
import { createObjectRecords, type ObjectRecords } from "./object-records.ts";
import type { FilesObject, StatusFiles } from "./status.ts";

export const refKey = ({ kind, namespace, name }: ObjectRef): string => `${kind}/${namespace}/${name}`;

/** Object without its version, which it gets as it is shown. */
export type UnversionedObject = Omit<FilesObject, "resourceVersion">;

export class ObjectStore {
  readonly #records: ObjectRecords;
  readonly #statusFiles: StatusFiles;
  /** Objects by kind, so that a query for a kind with few objects does not cost as much as a kind with many. */
  readonly #byRef = new Map<Kind, Map<string, FilesObject>>(KINDS.map((kind) => [kind, new Map()]));
  #revisions = 0;

  private constructor(root: string, statusFiles: StatusFiles) {
    this.#records = createObjectRecords(root);
    this.#statusFiles = statusFiles;
  }

  /**
   * Reads the objects of a folder into memory.
   *
   * @throws Error if one of them cannot be read: its key would be taken for a key without a declaration, and revoked
   */
  static async open(root: string, statusFiles: StatusFiles): Promise<ObjectStore> {
    await ensureFolder(root);
    const held = new ObjectStore(root, statusFiles);
    for await (const [ref, record] of held.#records.all()) {
      held.#put({ ...ref, ...record, deleting: record.deletedAt !== null, status: await statusFiles.load(ref) });
    }
    return held;
  }

  /** Returns the object of this name, whatever its uid. */
  find(ref: ObjectRef): FilesObject | undefined {
    return this.#byRef.get(ref.kind)?.get(refKey(ref));
  }

  /** Returns the object as it is now, if it is still the object that was read. */
  current(object: DeclaredObject): FilesObject | undefined {
    const now = this.find(object);
    return now?.uid === object.uid ? now : undefined;
  }

  /** Returns every object, of all kinds. */
  all(): readonly FilesObject[] {
    return [...this.#byRef.values()].flatMap((objects) => [...objects.values()]);
  }

  /** Returns every object of a kind. */
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[] {
    const objects = [...(this.#byRef.get(kind)?.values() ?? [])];
    return objects.filter((object): object is FilesObject & DeclaredObject<K> => object.kind === kind);
  }

  /**
   * Returns the uid that the disk has under this name; undefined if it has no such object. Throws if it is unreadable.
   */
  async storedUid(ref: ObjectRef): Promise<string | undefined> {
    return (await this.#records.find(ref))?.uid;
  }

  /** Stores an object without its status, and shows it. */
  async save(object: UnversionedObject): Promise<void> {
    await this.#records.save(object);
    await this.show(object);
  }

  /** Shows an object as it is now, without storing it: enough for a change of its status. */
  async show(object: UnversionedObject): Promise<void> {
    await this.#statusFiles.write(this.#put(object));
  }

  /** Removes an object, with its record and its status file. */
  async drop(object: FilesObject): Promise<void> {
    await this.#records.remove(object);
    this.#byRef.get(object.kind)?.delete(refKey(object));
    await this.#statusFiles.remove(object);
  }

  /** Gives an object its next version, and replaces what had its name. */
  #put(object: UnversionedObject): FilesObject {
    const next = { ...object, resourceVersion: String(++this.#revisions) };
    this.#byRef.get(object.kind)?.set(refKey(object), next);
    return next;
  }
}
