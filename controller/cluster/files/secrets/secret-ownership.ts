/**
 * Finds a Secret and its owner: we own it if it has metadata; else a manifest or another program does. Only a Secret of
 * our own is ever written to.
 */
import { ClusterError, type SecretDraft, type SecretObject } from "../../port.ts";
import type { DeclaredSecrets } from "../manifests/declared-secrets.ts";
import type { SecretFiles } from "./secret-files.ts";
import type { SecretMetadata, SecretMetadataFiles } from "./secret-metadata.ts";

export type SecretOwnership = {
  /** Returns the Secret as it is now, ours or not; undefined if there is none. */
  find(namespace: string, name: string): Promise<SecretObject | undefined>;
  /**
   * Checks that a Secret is ours and unchanged since it was read.
   *
   * @returns its metadata
   * @throws ClusterError if it is not ours, is gone, or has changed since it was read
   */
  assertUnchanged(read: SecretObject): Promise<SecretMetadata>;
  /**
   * Returns the Secret after a write of ours: with the data that was written, whatever happens to the files meanwhile.
   */
  written(draft: SecretDraft, metadata: SecretMetadata): Promise<SecretObject>;
};

/** @param findDeclared finds a `Secret` manifest, which is read as a Secret that is not ours */
export function createSecretOwnership(
  metadataFiles: SecretMetadataFiles,
  files: Pick<SecretFiles, "standing" | "identify" | "read">,
  findDeclared: DeclaredSecrets["find"],
): SecretOwnership {
  /**
   * Returns our metadata of an existing Secret. If the Secret has gone, or its path leads to no folder, its metadata is
   * dropped: what comes there is not ours. Behind a link in place of a folder above, nothing is ours for now, but
   * nothing is known to have gone.
   */
  async function ours(
    namespace: string,
    name: string,
  ): Promise<{ metadata: SecretMetadata; identity: string } | undefined> {
    const metadata = await metadataFiles.load(namespace, name);
    if (metadata === undefined) return undefined;
    const standing = await files.standing(namespace, name);
    if (standing === "hidden") return undefined;
    const identity = standing === "folder" ? await files.identify(namespace, name) : undefined;
    if (identity !== undefined) return { metadata, identity };
    await metadataFiles.remove(namespace, name);
    return undefined;
  }

  async function find(namespace: string, name: string): Promise<SecretObject | undefined> {
    const own = await ours(namespace, name);
    if (own !== undefined) return present(namespace, name, own.metadata, own.identity);
    const manifest = findDeclared(namespace, name);
    if (manifest !== undefined) return manifest;
    const identity = await files.identify(namespace, name);
    return identity === undefined ? undefined : present(namespace, name, undefined, identity);
  }

  /**
   * Reads a Secret. Its identity is taken before its data is read: an edit between the two makes a later write
   * conflict.
   */
  async function present(
    namespace: string,
    name: string,
    metadata: SecretMetadata | undefined,
    identity: string,
  ): Promise<SecretObject> {
    const { uid = "", revision = 0, labels = {}, annotations = {}, owner = null } = metadata ?? {};
    const data = await files.read(namespace, name);
    const draft = { namespace, name, data, labels, annotations, owner };
    return { ...draft, uid, resourceVersion: versionOf(revision, identity), ...PLAIN };
  }

  return {
    find,
    async assertUnchanged(read) {
      const title = `Secret ${read.namespace}/${read.name}`;
      if (read.uid === "") throw new ClusterError("Forbidden", `${title} is not one of ours: it is never written to`);
      const own = await ours(read.namespace, read.name);
      if (own === undefined && (await find(read.namespace, read.name)) === undefined) {
        throw new ClusterError("NotFound", `${title} is gone`);
      }
      const isSame =
        own?.metadata.uid === read.uid && versionOf(own.metadata.revision, own.identity) === read.resourceVersion;
      if (!isSame) throw new ClusterError("Conflict", `${title} has changed since it was read`);
      return own.metadata;
    },
    async written(draft, { uid, revision }) {
      const identity = await files.identify(draft.namespace, draft.name);
      return { ...draft, uid, resourceVersion: versionOf(revision, identity), ...PLAIN };
    },
  };
}

/** Properties that a Secret in files never has. */
const PLAIN = { immutable: false, deleting: false, marks: [] } as const;

const versionOf = (revision: number, identity: string | undefined): string => `${revision} ${identity}`;
