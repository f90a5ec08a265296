/**
 * The objects of our kinds as last heard of: by a list, by a watch, or by the answer to a write of our own, which comes
 * here first, so that who has written reads what was written.
 */
import { isDeepStrictEqual } from "node:util";
import type { Kind } from "../../../../domain/kinds/kinds.ts";
import { type DeclaredObject, FINALIZER, type ObjectRef, type ObjectStatus } from "../../port.ts";
import { type HeldObject, readObject } from "./read-object.ts";
import type { Sink } from "./reflector.ts";
import { isLater } from "./resource-version.ts";
import { eachInTurns } from "./turns.ts";

export type Objects = {
  get<K extends Kind>(kind: K, namespace: string, name: string): DeclaredObject<K> | undefined;
  list<K extends Kind>(kind: K): readonly DeclaredObject<K>[];
  /** Also of those whose spec cannot be read; not of those in doubt. */
  uids(kind: Kind): readonly string[];
  /** How many objects there are in each namespace that has any. */
  namespaces(): ReadonlyMap<string, number>;
  /** Announces what there is in a namespace: whether it ends with it has changed. */
  announce(namespace: string): void;
  /** Reads an object of that kind; what is known of it need not be judged again. */
  read(kind: Kind, raw: unknown): HeldObject;
  /** The object as it is now, valid or not, if it is still the one that was read. */
  current(object: DeclaredObject): DeclaredObject | undefined;
  /** Takes what a reflector reads of one kind in one namespace; in all where it is empty. */
  sink(kind: Kind, namespace: string): Sink<HeldObject>;
  /** Takes an object as the answer to a write of ours has it; not one that has gone meanwhile. */
  absorb(held: HeldObject): void;
  /** Takes what was found when it was asked for by name. Whether this was not known, or was in doubt. */
  found(held: HeldObject): boolean;
  /** The object is known to be gone. */
  forget(object: ObjectRef & Pick<DeclaredObject, "uid">): void;
  /**
   * Those that the last list of their kind lacked, or replaced by another of their name, though no watch reported it.
   */
  doubted(): readonly DeclaredObject[];
  /** Has a status that is being written not count as a change when it is heard of. */
  expectStatus(object: DeclaredObject, status: ObjectStatus | undefined): void;
};

/**
 * @param onChange called for each change that is not our own: `now` is undefined when the object has gone
 * @param isEnding whether an object ends with its namespace: then it counts as being deleted, as it soon will be
 */
export function createObjects(
  onChange: (ref: ObjectRef, now: HeldObject | undefined) => void,
  isEnding: (object: DeclaredObject) => boolean = () => false,
): Objects {
  const held: Record<Kind, Map<string, HeldObject>> = {
    PlatformKey: new Map(),
    PlatformTeam: new Map(),
    ModelGateway: new Map(),
    MemoryLibrary: new Map(),
  };
  const expected = new Map<string, ObjectStatus>();
  const all = () => Object.values(held).flatMap((ofKind) => [...ofKind.values()]);
  /** By uid. */
  const doubted = new Map<string, DeclaredObject>();

  /** An object as it is to be worked on. What is wrong with its spec does not matter to its end. */
  function asWorkedOn(one: HeldObject): HeldObject {
    const { object } = one;
    return object.deleting || !isEnding(object) ? one : { object: { ...object, deleting: true }, problem: undefined };
  }

  function put(now: HeldObject, isSure: boolean): void {
    const { object } = now;
    doubted.delete(object.uid);
    const before = held[object.kind].get(placeOf(object));
    const isSame = before?.object.uid === object.uid;
    if (isSame && !isSure && !isLater(object.resourceVersion, before.object.resourceVersion)) return;
    held[object.kind].set(placeOf(object), now);
    if (before !== undefined) doubted.delete(before.object.uid);
    if (!isSame || differs(before, now, expected.get(object.uid))) onChange(refOf(object), now);
  }

  function drop(object: ObjectRef & Pick<DeclaredObject, "uid">): void {
    doubted.delete(object.uid);
    if (held[object.kind].get(placeOf(object))?.object.uid !== object.uid) return;
    held[object.kind].delete(placeOf(object));
    onChange(refOf(object), undefined);
  }

  return {
    get<K extends Kind>(kind: K, namespace: string, name: string) {
      const found = held[kind].get(`${namespace}/${name}`);
      const { object, problem } = found === undefined ? {} : asWorkedOn(found);
      // A map holds objects of its own kind.
      return problem === undefined ? (object as DeclaredObject<K> | undefined) : undefined;
    },
    list<K extends Kind>(kind: K) {
      const valid = [...held[kind].values()].map(asWorkedOn).filter(({ problem }) => problem === undefined);
      return valid.map(({ object }) => object as DeclaredObject<K>);
    },
    read: (kind, raw) => readObject(kind, raw, (ref) => held[kind].get(placeOf(ref))),
    uids: (kind) => [...held[kind].values()].map(({ object }) => object.uid).filter((uid) => !doubted.has(uid)),
    namespaces() {
      const counts = new Map<string, number>();
      for (const { object } of all()) {
        if (object.namespace !== "") counts.set(object.namespace, (counts.get(object.namespace) ?? 0) + 1);
      }
      return counts;
    },
    announce(namespace) {
      for (const one of all()) if (one.object.namespace === namespace) onChange(refOf(one.object), asWorkedOn(one));
    },
    current(object) {
      const now = held[object.kind].get(placeOf(object))?.object;
      return now?.uid === object.uid ? now : undefined;
    },
    sink: (kind, namespace) => ({
      async replace(items) {
        const present = new Set(items.map(({ object }) => object.uid));
        for (const { object } of held[kind].values()) {
          const isListed = namespace === "" || object.namespace === namespace;
          if (isListed && !present.has(object.uid)) doubted.set(object.uid, object);
        }
        // A list is believed even where it is older than what is known, since the server may have been restored; but
        // not that an object is gone.
        await eachInTurns(items, (item) => {
          const before = held[kind].get(placeOf(item.object))?.object.uid;
          if (before === undefined || before === item.object.uid || !doubted.has(before)) put(item, true);
        });
      },
      put: (item) => put(item, false),
      remove: ({ object }) => drop(object),
    }),
    absorb(now) {
      const before = held[now.object.kind].get(placeOf(now.object));
      if (before?.object.uid !== now.object.uid) return;
      if (now.object.deleting && now.object.finalizers.length === 0) drop(now.object);
      else put(now, false);
    },
    found(now) {
      const { kind, uid, resourceVersion } = now.object;
      const before = held[kind].get(placeOf(now.object))?.object;
      const isKnown = before?.uid === uid && !doubted.has(uid);
      // While the answer was on its way, a watch may have reported what succeeded it.
      const isOver =
        before !== undefined && !doubted.has(before.uid) && isLater(before.resourceVersion, resourceVersion);
      if (!isOver) put(now, false);
      return !isKnown && !isOver;
    },
    forget: drop,
    doubted: () => [...doubted.values()],
    expectStatus({ uid }, status) {
      if (status === undefined) expected.delete(uid);
      else expected.set(uid, status);
    },
  };
}

const placeOf = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;
const refOf = ({ kind, namespace, name }: ObjectRef): ObjectRef => ({ kind, namespace, name });

/** Whether a change has to be worked on. A status that another writer has changed is put right again. */
function differs(before: HeldObject, now: HeldObject, expected: ObjectStatus | undefined): boolean {
  const a = before.object;
  const b = now.object;
  return (
    a.generation !== b.generation ||
    // Of one generation before and after a server was restored there may be two.
    (a.spec !== b.spec && !isDeepStrictEqual(a.spec, b.spec)) ||
    a.takeOver !== b.takeOver ||
    a.deleting !== b.deleting ||
    before.problem !== now.problem ||
    (a.finalizers.includes(FINALIZER) && !b.finalizers.includes(FINALIZER)) ||
    !(isDeepStrictEqual(a.status, b.status) || isDeepStrictEqual(expected, b.status))
  );
}
