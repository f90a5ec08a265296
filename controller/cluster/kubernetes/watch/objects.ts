/**
 * Objects of our kinds as last heard of: by a list, by a watch, or by the answer to a write of our own, which comes
 * here first, so that a writer reads what it has written.
 */
import { isDeepStrictEqual } from "node:util";
import type { Kind } from "../../../../domain/kinds/kinds.ts";
import type { DeclaredObject, ObjectRef, ObjectStatus } from "../../port.ts";
import { ObjectCache } from "./object-cache.ts";
import { needsReconciling } from "./object-change.ts";
import { asDeleted, type CheckedObject, readDeclaredObject } from "./read-object.ts";
import type { Sink } from "./reflector.ts";
import { isLater } from "./resource-version.ts";
import { eachYielding } from "./yield-between.ts";

export class WatchedObjects {
  readonly #held = new ObjectCache();
  /** Statuses that are being written, by the object's uid. */
  readonly #expected = new Map<string, ObjectStatus>();
  readonly #onChange: (ref: ObjectRef, now: CheckedObject | undefined) => void;
  readonly #isEnding: (object: DeclaredObject) => boolean;
  readonly #onContradicted: (ref: ObjectRef) => void;

  /**
   * @param onChange called for each change that is not our own: `now` is undefined if the object has gone
   * @param isEnding returns true if an object ends with its namespace: then it counts as being deleted, as it soon will
   * be
   * @param onContradicted called if an object was read twice at one version, with different specs: a watch that began
   * before its kind gained a field does not have that field, and the answer to a write does
   */
  constructor(
    onChange: (ref: ObjectRef, now: CheckedObject | undefined) => void,
    isEnding: (object: DeclaredObject) => boolean = () => false,
    onContradicted: (ref: ObjectRef) => void = () => {},
  ) {
    this.#onChange = onChange;
    this.#isEnding = isEnding;
    this.#onContradicted = onContradicted;
  }

  /** Returns an object, as `get` of the port: undefined also if its spec cannot be read, unless it is a key's. */
  get<K extends Kind>(kind: K, namespace: string, name: string): DeclaredObject<K> | undefined {
    const held = this.#held.find({ kind, namespace, name });
    const one = held && this.#withEnding(held);
    // The cache has objects by kind, so the type is right.
    return one !== undefined && isWorkedOn(one) ? (one.object as DeclaredObject<K>) : undefined;
  }

  /** Returns the objects of a kind that `get` returns, as `list` of the port. */
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[] {
    const readable = this.#held
      .ofKind(kind)
      .map((one) => this.#withEnding(one))
      .filter(isWorkedOn);
    return readable.map(({ object }) => object as DeclaredObject<K>);
  }

  /** Returns the uids of all objects, with those whose spec cannot be read, and without those that a list lacked. */
  uids(kind: Kind): readonly string[] {
    const uids = this.#held.ofKind(kind).map(({ object }) => object.uid);
    return uids.filter((uid) => !this.#held.isUnconfirmed(uid));
  }

  /** Returns the number of objects in each namespace that has any. */
  namespaces(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { object } of this.#held.all()) {
      if (object.namespace !== "") counts.set(object.namespace, (counts.get(object.namespace) ?? 0) + 1);
    }
    return counts;
  }

  /** Announces the objects of a namespace, since it has changed whether they end with it. */
  announce(namespace: string): void {
    for (const one of this.#held.all()) {
      if (one.object.namespace === namespace) this.#onChange(refOf(one.object), this.#withEnding(one));
    }
  }

  /** Reads an object of that kind; a spec that is known is not judged again. */
  read(kind: Kind, raw: unknown): CheckedObject {
    return readDeclaredObject(kind, raw, (ref) => this.#held.find(ref));
  }

  /** Returns the object as it is now, valid or not, if it is still the object that was read. */
  current(object: DeclaredObject): DeclaredObject | undefined {
    const now = this.#held.find(object)?.object;
    return now?.uid === object.uid ? now : undefined;
  }

  /** Returns the sink for what a reflector reads of one kind in one namespace, or in all if it is empty. */
  sink(kind: Kind, namespace: string): Sink<CheckedObject> {
    return {
      replace: (items) => this.#replace(kind, namespace, items),
      put: (item) => this.#put(item, false),
      remove: ({ object }) => this.forget(object),
    };
  }

  /** Takes an object from the answer to a write of ours, unless it has gone meanwhile. */
  absorb(now: CheckedObject): void {
    if (this.current(now.object) === undefined) return;
    if (now.object.deleting && now.object.finalizers.length === 0) this.forget(now.object);
    else this.#put(now, false);
  }

  /**
   * Takes an object that was found when it was asked for by name. Returns true if it was not known, or a list had
   * lacked it.
   */
  found(now: CheckedObject): boolean {
    const { uid, resourceVersion } = now.object;
    const before = this.#held.find(now.object)?.object;
    const isConfirmed = before !== undefined && !this.#held.isUnconfirmed(before.uid);
    const isKnown = isConfirmed && before.uid === uid;
    // While the answer was on its way, a watch may have reported what succeeded it.
    const isOver = isConfirmed && isLater(before.resourceVersion, resourceVersion);
    if (!isOver) this.#put(now, false);
    return !isKnown && !isOver;
  }

  /** Notes that the object is known to be gone. */
  forget(object: ObjectRef & Pick<DeclaredObject, "uid">): void {
    if (this.#held.remove(object)) this.#onChange(refOf(object), undefined);
  }

  /**
   * Returns the objects that the last list of their kind lacked, or replaced by another of their name, though no watch
   * reported it.
   */
  unconfirmed(): readonly DeclaredObject[] {
    return this.#held.unconfirmed();
  }

  /** Notes a status that is being written: it does not count as a change when it is heard of. */
  expectStatus({ uid }: DeclaredObject, status: ObjectStatus | undefined): void {
    if (status === undefined) this.#expected.delete(uid);
    else this.#expected.set(uid, status);
  }

  /** Returns an object as it is reconciled: if it ends with its namespace, it counts as being deleted. */
  #withEnding(one: CheckedObject): CheckedObject {
    return one.object.deleting || !this.#isEnding(one.object) ? one : asDeleted(one);
  }

  /** @param isSure true if this is believed even if it is older than what is known of the same object */
  #put(now: CheckedObject, isSure: boolean): void {
    const { object } = now;
    const before = this.#held.find(object);
    const isSame = before?.object.uid === object.uid;
    if (isSame && !isSure && !isLater(object.resourceVersion, before.object.resourceVersion)) {
      this.#held.confirm(object.uid);
      if (isOneMoment(object, before.object) && !isDeepStrictEqual(object.spec, before.object.spec)) {
        this.#onContradicted(refOf(object));
      }
      return;
    }
    this.#held.set(now);
    if (!isSame || needsReconciling(before, now, this.#expected.get(object.uid))) this.#onChange(refOf(object), now);
  }

  /**
   * Takes a list. It is believed even if it is older than what is known, since the server may have been restored; but
   * it is not believed that an object is gone.
   */
  async #replace(kind: Kind, namespace: string, items: readonly CheckedObject[]): Promise<void> {
    const present = new Set(items.map(({ object }) => object.uid));
    for (const { object } of this.#held.ofKind(kind)) {
      const isListed = namespace === "" || object.namespace === namespace;
      if (isListed && !present.has(object.uid)) this.#held.doubt(object);
    }
    await eachYielding(items, (item) => {
      const before = this.#held.find(item.object)?.object.uid;
      const isSuccessor = before !== undefined && before !== item.object.uid;
      if (!isSuccessor || !this.#held.isUnconfirmed(before)) this.#put(item, true);
    });
  }
}

const refOf = ({ kind, namespace, name }: ObjectRef): ObjectRef => ({ kind, namespace, name });

const isOneMoment = (a: DeclaredObject, b: DeclaredObject): boolean => a.resourceVersion === b.resourceVersion;

function isWorkedOn({ object, problem }: CheckedObject): boolean {
  return problem === undefined || object.isUnread === true;
}
