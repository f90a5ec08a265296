import { secretTarget } from "../../domain/manifest/effective.ts";
import type { DeclaredObject } from "../cluster/port.ts";

/** The Secrets of its namespace that an object delivers to, imports from, or takes credentials from. */
export function secretsNamedBy(object: DeclaredObject): string[] {
  if (isOf("PlatformKey", object)) {
    const { secretRef } = object.spec.source;
    return [secretTarget(object.name, object.spec).name, ...(secretRef === undefined ? [] : [secretRef.name])];
  }
  if (!isOf("ModelGateway", object)) return [];
  return [...new Set(object.spec.upstreams.map(({ credentialRef }) => credentialRef.name))];
}

function isOf<K extends "PlatformKey" | "ModelGateway">(kind: K, object: DeclaredObject): object is DeclaredObject<K> {
  return object.kind === kind;
}
