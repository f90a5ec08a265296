import { isDeepStrictEqual } from "node:util";
import { secretTarget } from "../../domain/key/declaration/effective.ts";
import type { DeclaredObject, ObjectRef } from "./port.ts";

export type SecretName = { readonly namespace: string; readonly name: string };

/**
 * Returns the Secrets that an object delivers to, imports from, takes credentials from or signs with, each of them
 * once.
 */
export function secretsNamedBy(object: DeclaredObject): SecretName[] {
  const { namespace } = object;
  if (isOf("PlatformKey", object)) {
    const { secretRef } = object.spec.source;
    const own = { namespace, name: secretTarget(object.name, object.spec).name };
    return secretRef === undefined ? [own] : [own, { namespace, name: secretRef.name }];
  }
  if (isOf("ModelGateway", object)) {
    const names = object.spec.upstreams.flatMap(({ credentialRef }) => credentialRef?.name ?? []);
    return [...new Set(names)].map((name) => ({ namespace, name }));
  }
  if (!isOf("PlatformTeam", object)) return [];
  const refs = object.spec.webhooks.map(({ secretRef: { namespace, name } }) => ({ namespace, name }));
  return refs.filter((ref, i) => refs.findIndex((one) => isDeepStrictEqual(one, ref)) === i);
}

/** Index of the objects that name each Secret. */
export type SecretIndex = {
  /** Notes an object as it is now; undefined if it is gone. */
  note(ref: ObjectRef, now: DeclaredObject | undefined): void;
  /** Returns the objects that name a Secret; empty if none does. */
  namersOf(namespace: string, name: string): readonly ObjectRef[];
};

/**
 * Makes an index that knows no object yet.
 *
 * @param onFirst called with a namespace in which a Secret is named from now on
 * @param onLast called with a namespace in which no Secret is named any more
 * @param onDropped called with a Secret that nothing names any more
 */
export function createSecretIndex(
  onFirst: (namespace: string) => void = () => {},
  onLast: (namespace: string) => void = () => {},
  onDropped: (namespace: string, name: string) => void = () => {},
): SecretIndex {
  /** Secrets that each object names, by the object's kind, namespace and name. */
  const named = new Map<string, { readonly ref: ObjectRef; readonly secrets: readonly SecretName[] }>();
  /** Objects that name each Secret, by the Secret's namespace and name. */
  const namers = new Map<string, Map<string, ObjectRef[]>>();

  function add({ namespace, name }: SecretName, ref: ObjectRef): void {
    let inNamespace = namers.get(namespace);
    if (inNamespace === undefined) {
      inNamespace = new Map();
      namers.set(namespace, inNamespace);
      onFirst(namespace);
    }
    const refs = inNamespace.get(name);
    if (refs === undefined) inNamespace.set(name, [ref]);
    else refs.push(ref);
  }

  function remove({ namespace, name }: SecretName, ref: ObjectRef): void {
    const inNamespace = namers.get(namespace);
    const refs = inNamespace?.get(name);
    refs?.splice(refs.indexOf(ref), 1);
    if (refs?.length !== 0) return;
    inNamespace?.delete(name);
    onDropped(namespace, name);
    if (inNamespace?.size !== 0) return;
    namers.delete(namespace);
    onLast(namespace);
  }

  return {
    note({ kind, namespace, name }, now) {
      const key = `${kind}/${namespace}/${name}`;
      const before = named.get(key);
      const ref = before?.ref ?? { kind, namespace, name };
      const secrets = now === undefined ? [] : secretsNamedBy(now);
      if (secrets.length === 0) named.delete(key);
      else named.set(key, { ref, secrets });
      // New names before old ones go: a Secret that is still named is not dropped in between.
      for (const secret of secrets) add(secret, ref);
      for (const secret of before?.secrets ?? []) remove(secret, ref);
    },
    namersOf: (namespace, name) => namers.get(namespace)?.get(name) ?? [],
  };
}

function isOf<K extends "PlatformKey" | "ModelGateway" | "PlatformTeam">(
  kind: K,
  object: DeclaredObject,
): object is DeclaredObject<K> {
  return object.kind === kind;
}
