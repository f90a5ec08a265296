/** Take-over of a key that was made by hand: a declaration names its id (docs/decisions/take-over.md). */
import { API_CLUSTER } from "../../api-cluster.ts";
import { isKeyId } from "../stored/key-id.ts";
import type { StoredKey } from "../stored/stored-key.ts";
import { importHash } from "./import.ts";

/** Annotation of a PlatformKey: the id of the key to take over. It has no effect once the declaration has a key. */
export const TAKE_OVER_ANNOTATION = "keyplane.dev/take-over";

/** Request of a declaration that names a key in its annotation. */
export type TakeOverRequest = {
  /** Value of the annotation, unchecked. */
  readonly keyId: string;
  /** Hash in `spec.source`; undefined if the source is of another type. */
  readonly hash: { readonly sha256: string; readonly prefix: string } | undefined;
  /** The team that holds the declaration's namespace; null while none does. */
  readonly teamId: string | null;
};

/** Key with the requested id. */
export type TakeOverCandidate = Pick<
  StoredKey,
  "cluster" | "namespace" | "name" | "ownerUid" | "teamId" | "state" | "versions"
> & {
  /** Name of what manages it, such as a Pulumi resource or a library; null if nothing does. */
  readonly managedBy: string | null;
};

/**
 * Decides whether a declaration takes a key over: only a living key of its own team that the API or the console made,
 * and whose version in use has the declared hash. For another team's key the answer is the same as for a missing key.
 *
 * @param key the key of that id, whosever it is; undefined if there is none
 * @returns the digest of the version in use, or why not, in a sentence that names nothing of another team
 */
export function decideTakeOver(
  { keyId, hash, teamId }: TakeOverRequest,
  key: TakeOverCandidate | undefined,
): { readonly digest: string } | { readonly refused: string } {
  const no = (refused: string) => ({ refused });
  if (!isKeyId(keyId)) return no(`The annotation ${TAKE_OVER_ANNOTATION} holds no key's id.`);
  if (hash === undefined) return no(`To take over ${keyId}, spec.source is to be of type ImportHash.`);
  if (key === undefined || teamId === null || key.teamId !== teamId) {
    return no(`The team of this namespace has no key ${keyId}.`);
  }
  if (key.state === "revoked") return no(`Key ${keyId} is revoked, which is final.`);
  if (key.managedBy !== null) return no(`Key ${keyId} is managed by ${key.managedBy}, which is to let go of it first.`);
  if (key.cluster !== API_CLUSTER) {
    return no(
      key.ownerUid === null
        ? `Key ${keyId} was declared before, and its declaration has let go of it: only a key that was made by hand is taken over.`
        : `Key ${keyId} is declared already, as PlatformKey ${key.namespace}/${key.name}.`,
    );
  }
  const active = key.versions.find((version) => version.state === "active");
  const wanted = importHash(hash);
  if (active === undefined || active.digest !== wanted.digest || active.prefix !== wanted.prefix) {
    return no(`spec.source.hash is not that of the version of key ${keyId} that is in use.`);
  }
  return { digest: active.digest };
}
