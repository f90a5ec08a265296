/**
 * `Secret` manifests, as Secrets that are not ours. Their values are in the folder alone. If a manifest cannot be seen
 * at a start, only the fact that it was declared is known, and that is not the same as no Secret.
 */
import type { SecretManifest } from "../../../../domain/manifest/validation/validate.ts";
import { ClusterError, type SecretObject } from "../../port.ts";
import type { SecretName } from "../../secret-names.ts";

export type DeclaredSecrets = {
  /**
   * Returns a declared Secret; undefined if it is not declared.
   *
   * @throws ClusterError `Forbidden` if it was declared and has not been seen since the start
   */
  find(namespace: string, name: string): SecretObject | undefined;
  compare(manifest: SecretManifest): "none" | "same" | "different";
  isDeclared(name: SecretName): boolean;
  all(): readonly SecretName[];
  /** Takes over what a manifest declares. Returns true if that is news. */
  apply(manifest: SecretManifest): boolean;
  /** Forgets a Secret whose manifest was removed. */
  remove(name: SecretName): void;
};

/**
 * Makes the record of declared Secrets.
 *
 * @param known Secrets that were declared when the folder was read last, before the start
 */
export function createDeclaredSecrets(known: readonly SecretName[], randomUuid: () => string): DeclaredSecrets {
  const secrets = new Map<string, SecretName | SecretObject>(known.map((one) => [keyOf(one), one]));

  function compare(manifest: SecretManifest): "none" | "same" | "different" {
    const now = secrets.get(keyOf(manifest));
    if (now === undefined) return "none";
    return "data" in now && isSameData(now.data, manifest.data) ? "same" : "different";
  }

  return {
    find(namespace, name) {
      const now = secrets.get(keyOf({ namespace, name }));
      if (now === undefined || "data" in now) return now;
      throw new ClusterError("Forbidden", `the manifest of Secret ${namespace}/${name} cannot be seen, or has a fault`);
    },
    compare,
    isDeclared: (name) => secrets.has(keyOf(name)),
    all: () => [...secrets.values()],
    apply(manifest) {
      if (compare(manifest) === "same") return false;
      const { namespace, name, data } = manifest;
      const unmanaged = {
        labels: {},
        annotations: {},
        owner: null,
        uid: "",
        immutable: false,
        deleting: false,
        marks: [],
      };
      secrets.set(keyOf(manifest), { namespace, name, data, ...unmanaged, resourceVersion: randomUuid() });
      return true;
    },
    remove: (name) => void secrets.delete(keyOf(name)),
  };
}

const keyOf = ({ namespace, name }: SecretName): string => `${namespace}/${name}`;

type Data = SecretManifest["data"];

export function isSameData(a: Data, b: Data): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
