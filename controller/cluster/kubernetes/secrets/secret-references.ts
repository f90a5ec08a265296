/**
 * Which Secrets matter: those that keys deliver to or import from, those with a gateway's credentials, and those that a
 * team's webhooks are signed with.
 */

import type { ObjectRef } from "../../port.ts";
import { type SecretName, secretsNamedBy } from "../../secret-names.ts";
import type { HeldObject } from "../watch/read-object.ts";

export type SecretReferences = {
  /** Takes note of an object as it is now. Gives the namespaces whose first or last reference this was. */
  note(ref: ObjectRef, now: HeldObject | undefined): void;
  has(namespace: string, name: string): boolean;
};

/**
 * Keeps count of the references.
 *
 * @param onFirst called with a namespace in which a Secret is referred to from now on
 * @param onLast called with a namespace in which none is referred to any more
 * @param onDropped called with a Secret that nothing refers to any more
 */
export function createSecretReferences(
  onFirst: (namespace: string) => void,
  onLast: (namespace: string) => void,
  onDropped: (namespace: string, name: string) => void,
): SecretReferences {
  const ofObject = new Map<string, readonly SecretName[]>();
  const counts = new Map<string, Map<string, number>>();

  function add({ namespace, name }: SecretName): void {
    let names = counts.get(namespace);
    if (names === undefined) {
      names = new Map();
      counts.set(namespace, names);
      onFirst(namespace);
    }
    names.set(name, (names.get(name) ?? 0) + 1);
  }

  function remove({ namespace, name }: SecretName): void {
    const names = counts.get(namespace);
    const left = (names?.get(name) ?? 1) - 1;
    if (left > 0) {
      names?.set(name, left);
      return;
    }
    names?.delete(name);
    onDropped(namespace, name);
    if (names?.size !== 0) return;
    counts.delete(namespace);
    onLast(namespace);
  }

  return {
    note({ kind, namespace, name }, now) {
      const key = `${kind}/${namespace}/${name}`;
      const before = ofObject.get(key) ?? [];
      const names = now === undefined ? [] : secretsNamedBy(now.object);
      if (names.length === 0) ofObject.delete(key);
      else ofObject.set(key, names);
      for (const one of names) add(one);
      for (const one of before) remove(one);
    },
    has: (namespace, name) => counts.get(namespace)?.has(name) === true,
  };
}
