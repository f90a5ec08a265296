/** Objects that the manifests declare, as an API server would hold them. A uid is random and dies with its object. */
import { isDeepStrictEqual } from "node:util";
import type { Presence } from "../../../domain/garbage-collection.ts";
import type { Kind } from "../../../domain/kinds/kinds.ts";
import { createSerial } from "../../../runtime/serial.ts";
import { ClusterError, type DeclaredObject, FINALIZER, type ObjectRef, type ObjectStatus } from "../port.ts";
import { titleOf } from "../titles.ts";
import { ObjectStore, refKey } from "./object-store.ts";
import type { FilesObject, StatusFiles } from "./status.ts";

/** Part of an object that a manifest declares. */
type Declared = Pick<FilesObject, "spec" | "takeOver" | "labels">;

type ObjectsOptions = {
  readonly clock: { now(): number };
  readonly randomUuid: () => string;
};

export class FilesObjects {
  readonly #held: ObjectStore;
  readonly #clock: ObjectsOptions["clock"];
  readonly #randomUuid: () => string;
  readonly #serially = createSerial();

  private constructor(held: ObjectStore, { clock, randomUuid }: ObjectsOptions) {
    this.#held = held;
    this.#clock = clock;
    this.#randomUuid = randomUuid;
  }

  /**
   * Reads the objects of a DATA folder into memory.
   *
   * @throws Error if one of them cannot be read: its key would be taken for a key without a declaration, and revoked
   */
  static async open(root: string, statusFiles: StatusFiles, options: ObjectsOptions): Promise<FilesObjects> {
    return new FilesObjects(await ObjectStore.open(root, statusFiles), options);
  }

  /** Returns an object, as `get` of the port. */
  get<K extends Kind>(kind: K, namespace: string, name: string): DeclaredObject<K> | undefined {
    return this.#held.find({ kind, namespace, name }) as DeclaredObject<K> | undefined;
  }

  /** Returns the objects of a kind, as `list` of the port. */
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[] {
    return this.#held.list(kind);
  }

  /** Returns every object, of all kinds. */
  all(): readonly FilesObject[] {
    return this.#held.all();
  }

  /**
   * Looks an object up in memory and then on the disk: an object goes only by a removal that was decided on, and its
   * file goes with it.
   */
  async lookUp(ref: ObjectRef, uid: string): Promise<Presence> {
    if (this.#held.find(ref)?.uid === uid) return "present";
    try {
      return (await this.#held.storedUid(ref)) === uid ? "present" : "gone";
    } catch {
      return "unknown";
    }
  }

  /**
   * Makes the object, or changes its spec or labels, also while it is being removed. Resolves with true if anything
   * changed.
   *
   * @param at when it is declared, in milliseconds since the epoch: objects that are declared together are equally old
   */
  apply(ref: ObjectRef, declared: Declared, at: number): Promise<boolean> {
    return this.#serially(refKey(ref), async () => {
      const now = this.#held.find(ref);
      if (now === undefined) {
        await this.#held.save(this.#born(ref, declared, at));
        return true;
      }
      const isSame = isDeepStrictEqual(now.spec, declared.spec);
      if (isSame && now.takeOver === declared.takeOver && isDeepStrictEqual(now.labels, declared.labels)) return false;
      const { spec, takeOver, labels } = declared;
      await this.#held.save({ ...now, spec, takeOver, labels, generation: now.generation + (isSame ? 0 : 1) });
      return true;
    });
  }

  /** Requests the removal. Without finalizers the object goes at once. Resolves with true if anything changed. */
  remove(ref: ObjectRef): Promise<boolean> {
    return this.#serially(refKey(ref), async () => {
      const now = this.#held.find(ref);
      if (now === undefined || now.deleting) return false;
      if (now.finalizers.length === 0) await this.#held.drop(now);
      else await this.#held.save({ ...now, deleting: true, deletedAt: this.#clock.now() });
      return true;
    });
  }

  /** @throws ClusterError `NotFound` if the object is gone, `Forbidden` if it is being removed */
  addFinalizer(object: DeclaredObject): Promise<void> {
    return this.#serially(refKey(object), async () => {
      const now = this.#held.current(object);
      const title = titleOf(object);
      if (now === undefined) throw new ClusterError("NotFound", `${title} is gone`);
      if (now.finalizers.includes(FINALIZER)) return;
      if (now.deleting) {
        throw new ClusterError("Forbidden", `${title} is being removed: it takes no finalizer any more`);
      }
      await this.#held.save({ ...now, finalizers: [...now.finalizers, FINALIZER] });
    });
  }

  /** Removes our finalizer. Resolves with true if the object is gone after this. */
  removeFinalizer(object: DeclaredObject): Promise<boolean> {
    return this.#serially(refKey(object), async () => {
      const now = this.#held.current(object);
      if (now === undefined) return true;
      const finalizers = now.finalizers.filter((finalizer) => finalizer !== FINALIZER);
      const isGone = now.deleting && finalizers.length === 0;
      if (isGone) await this.#held.drop(now);
      else if (finalizers.length < now.finalizers.length) await this.#held.save({ ...now, finalizers });
      return isGone;
    });
  }

  /** Writes the status, unless it is equal to what is there. No error if the object is gone. */
  writeStatus(object: DeclaredObject, status: ObjectStatus): Promise<void> {
    return this.#serially(refKey(object), async () => {
      const now = this.#held.current(object);
      if (now !== undefined && !isDeepStrictEqual(now.status, status)) await this.#held.show({ ...now, status });
    });
  }

  /** Returns an object as it is when it is first declared. */
  #born({ kind, namespace, name }: ObjectRef, { spec, takeOver, labels }: Declared, createdAt: number) {
    return {
      ...{ kind, namespace, name, uid: this.#randomUuid(), generation: 1, createdAt },
      ...{ deletedAt: null, deleting: false, finalizers: [], spec, takeOver, labels, status: undefined },
    };
  }
}
