import { isDeepStrictEqual } from "node:util";
import { secretTarget } from "../../domain/key/effective.ts";
import type { DeclaredObject } from "./port.ts";

export type SecretName = { readonly namespace: string; readonly name: string };

/** The Secrets that an object delivers to, imports from, takes credentials from or signs with; each of them once. */
export function secretsNamedBy(object: DeclaredObject): SecretName[] {
  const { namespace } = object;
  if (isOf("PlatformKey", object)) {
    const { secretRef } = object.spec.source;
    const own = { namespace, name: secretTarget(object.name, object.spec).name };
    return secretRef === undefined ? [own] : [own, { namespace, name: secretRef.name }];
  }
  if (isOf("ModelGateway", object)) {
    return [...new Set(object.spec.upstreams.map(({ credentialRef }) => credentialRef.name))].map((name) => ({
      namespace,
      name,
    }));
  }
  if (!isOf("PlatformTeam", object)) return [];
  const refs = object.spec.webhooks.map(({ secretRef: { namespace, name } }) => ({ namespace, name }));
  return refs.filter((ref, i) => refs.findIndex((one) => isDeepStrictEqual(one, ref)) === i);
}

function isOf<K extends "PlatformKey" | "ModelGateway" | "PlatformTeam">(
  kind: K,
  object: DeclaredObject,
): object is DeclaredObject<K> {
  return object.kind === kind;
}
