/** What a plan knows of Secrets, without a look at what is in any. */
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";

/** Of Secrets that no manifest declares: whether there is one; undefined where that is not known. */
export type SecretPresence = (ref: NamedRef) => boolean | undefined;

export type KnownSecrets = {
  /** By `namespace/name` of those among the manifests: the data keys that hold something; null for one with a fault. */
  readonly declared: ReadonlyMap<string, ReadonlySet<string> | null>;
  readonly isThere: SecretPresence;
};

/** Whether a Secret, or its data key, is known not to be there. */
export function isMissing({ declared, isThere }: KnownSecrets, ref: NamedRef, dataKey: string): boolean {
  const dataKeys = declared.get(`${ref.namespace}/${ref.name}`);
  return dataKeys === undefined ? isThere(ref) === false : dataKeys !== null && !dataKeys.has(dataKey);
}
