/** Knowledge of Secrets that a plan has, without reading any of their values. */
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";

/** Looks up a Secret that no manifest declares: true if it exists; undefined if that is not known. */
export type SecretPresence = (ref: NamedRef) => boolean | undefined;

export type KnownSecrets = {
  /** Data keys with a value, by `namespace/name` of each Secret among the manifests; null for a Secret with a fault. */
  readonly declared: ReadonlyMap<string, ReadonlySet<string> | null>;
  readonly isThere: SecretPresence;
};

/** True if a Secret, or its data key, is known to be missing. */
export function isMissing({ declared, isThere }: KnownSecrets, ref: NamedRef, dataKey: string): boolean {
  const dataKeys = declared.get(`${ref.namespace}/${ref.name}`);
  return dataKeys === undefined ? isThere(ref) === false : dataKeys !== null && !dataKeys.has(dataKey);
}
