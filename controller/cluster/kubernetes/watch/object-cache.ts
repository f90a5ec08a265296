/** Cache of the objects of our kinds by name, and of those whose absence from a list nothing has confirmed yet. */
import type { Kind } from "../../../../domain/kinds/kinds.ts";
import type { DeclaredObject, ObjectRef } from "../../port.ts";
import type { CheckedObject } from "./read-object.ts";

export class ObjectCache {
  readonly #byKind: Record<Kind, Map<string, CheckedObject>> = {
    PlatformKey: new Map(),
    PlatformTeam: new Map(),
    PlatformKeyPolicy: new Map(),
    ModelGateway: new Map(),
    MemoryLibrary: new Map(),
  };
  /** Objects whose absence is unconfirmed, by uid. */
  readonly #unconfirmed = new Map<string, DeclaredObject>();

  /** Returns the object of this name, whatever its uid. */
  find(ref: ObjectRef): CheckedObject | undefined {
    return this.#byKind[ref.kind].get(keyOf(ref));
  }

  /** Returns every object of a kind. */
  ofKind(kind: Kind): readonly CheckedObject[] {
    return [...this.#byKind[kind].values()];
  }

  /** Returns every object, of all kinds. */
  all(): readonly CheckedObject[] {
    return Object.values(this.#byKind).flatMap((ofKind) => [...ofKind.values()]);
  }

  /** Replaces what had the object's name. Neither of the two is in doubt after this. */
  set(now: CheckedObject): void {
    const before = this.find(now.object);
    if (before !== undefined) this.confirm(before.object.uid);
    this.confirm(now.object.uid);
    this.#byKind[now.object.kind].set(keyOf(now.object), now);
  }

  /** Removes an object that is known to be gone. Returns false if another object has its name, or none. */
  remove(object: ObjectRef & Pick<DeclaredObject, "uid">): boolean {
    this.confirm(object.uid);
    if (this.find(object)?.object.uid !== object.uid) return false;
    return this.#byKind[object.kind].delete(keyOf(object));
  }

  /** Notes that a list lacks this object: until it was asked for by name, it is taken to be there as it was. */
  doubt(object: DeclaredObject): void {
    this.#unconfirmed.set(object.uid, object);
  }

  /** Notes that this object was heard of since: it is in doubt no more. */
  confirm(uid: string): void {
    this.#unconfirmed.delete(uid);
  }

  /** True if a list lacked this object, and nothing was heard of it since. */
  isUnconfirmed(uid: string): boolean {
    return this.#unconfirmed.has(uid);
  }

  /** Returns the objects that a list lacked, and of which nothing was heard since. */
  unconfirmed(): readonly DeclaredObject[] {
    return [...this.#unconfirmed.values()];
  }
}

const keyOf = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;
