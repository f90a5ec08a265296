/**
 * The objects of a DATA folder, in memory and on the disk. What is read comes from memory; what is changed is on the
 * disk before it is seen.
 */
import { KINDS, type Kind } from "../../../domain/kinds/kinds.ts";
import type { DeclaredObject, ObjectRef } from "../port.ts";
import { ensureFolder } from "./disk.ts";
import { createObjectRecords, type ObjectRecords } from "./object-records.ts";
import type { FilesObject, StatusFiles } from "./status.ts";

export const refKey = ({ kind, namespace, name }: ObjectRef): string => `${kind}/${namespace}/${name}`;

/** An object but for its version, which it is given as it is shown. */
export type UnversionedObject = Omit<FilesObject, "resourceVersion">;

export class ObjectStore {
  readonly #records: ObjectRecords;
  readonly #statusFiles: StatusFiles;
  /** By kind, so that a question for those of a small kind does not cost as much as there are of a large one. */
  readonly #byRef = new Map<Kind, Map<string, FilesObject>>(KINDS.map((kind) => [kind, new Map()]));
  #revisions = 0;

  private constructor(root: string, statusFiles: StatusFiles) {
    this.#records = createObjectRecords(root);
    this.#statusFiles = statusFiles;
  }

  /**
   * Reads the objects of a folder into memory.
   *
   * @throws Error where one of them cannot be read: its key would be taken for one without a declaration, and revoked
   */
  static async open(root: string, statusFiles: StatusFiles): Promise<ObjectStore> {
    await ensureFolder(root);
    const held = new ObjectStore(root, statusFiles);
    for await (const [ref, record] of held.#records.all()) {
      held.#put({ ...ref, ...record, deleting: record.deletedAt !== null, status: await statusFiles.load(ref) });
    }
    return held;
  }

  /** The object of this name, whatever its uid. */
  find(ref: ObjectRef): FilesObject | undefined {
    return this.#byRef.get(ref.kind)?.get(refKey(ref));
  }

  /** The object as it is now, when it is still the one that was read. */
  current(object: DeclaredObject): FilesObject | undefined {
    const now = this.find(object);
    return now?.uid === object.uid ? now : undefined;
  }

  /** Every object, of all kinds. */
  all(): readonly FilesObject[] {
    return [...this.#byRef.values()].flatMap((objects) => [...objects.values()]);
  }

  /** Every object of a kind. */
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[] {
    const objects = [...(this.#byRef.get(kind)?.values() ?? [])];
    return objects.filter((object): object is FilesObject & DeclaredObject<K> => object.kind === kind);
  }

  /** The uid that the disk has under this name; undefined where it has no such object. Throws where it is unreadable. */
  async storedUid(ref: ObjectRef): Promise<string | undefined> {
    return (await this.#records.find(ref))?.uid;
  }

  /** Stores an object, all but its status, and shows it. */
  async save(object: UnversionedObject): Promise<void> {
    await this.#records.save(object);
    await this.show(object);
  }

  /** Has an object seen as it is now, without storing it: enough for a change of its status. */
  async show(object: UnversionedObject): Promise<void> {
    await this.#statusFiles.write(this.#put(object));
  }

  /** Takes an object out, with its record and its status file. */
  async drop(object: FilesObject): Promise<void> {
    await this.#records.remove(object);
    this.#byRef.get(object.kind)?.delete(refKey(object));
    await this.#statusFiles.remove(object);
  }

  /** Gives an object its next version, and puts it in the place of what had its name. */
  #put(object: UnversionedObject): FilesObject {
    const next = { ...object, resourceVersion: String(++this.#revisions) };
    this.#byRef.get(object.kind)?.set(refKey(object), next);
    return next;
  }
}
