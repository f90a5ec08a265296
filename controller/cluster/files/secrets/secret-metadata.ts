/**
 * DATA/secret-metadata/<namespace>/<name>.json: facts about a Secret of our own, but no value and no hash of a value. A
 * Secret without this file is not ours.
 */
import { dirname } from "node:path";
import type { SecretDraft } from "../../port.ts";
import { ensureFolder, readJson, removeFile, replaceFile, standingAt } from "../disk.ts";
import { secretFolder } from "../paths.ts";

export type SecretMetadata = Pick<SecretDraft, "labels" | "annotations" | "owner"> & {
  readonly uid: string;
  /** Number that grows with each write of this record. */
  readonly revision: number;
  /** Names of the data keys that a replacement which a crash interrupted is to leave. */
  readonly dataKeys: readonly string[];
};

export type SecretMetadataFiles = {
  /** Reads the metadata; undefined if there is none, or a link is in the way to it. */
  load(namespace: string, name: string): Promise<SecretMetadata | undefined>;
  save(draft: SecretDraft, uid: string, revision: number): Promise<SecretMetadata>;
  remove(namespace: string, name: string): Promise<void>;
};

export function createSecretMetadataFiles(root: string): SecretMetadataFiles {
  const pathOf = (namespace: string, name: string) => `${secretFolder(root, namespace, name)}.json`;

  return {
    async load(namespace, name) {
      const path = pathOf(namespace, name);
      if ((await standingAt(dirname(path), root)) !== "folder") return undefined;
      return (await readJson(path)) as SecretMetadata | undefined;
    },
    async save(draft, uid, revision) {
      const { namespace, name, labels, annotations, owner } = draft;
      const metadata = { uid, revision, labels, annotations, owner, dataKeys: Object.keys(draft.data) };
      const path = pathOf(namespace, name);
      await ensureFolder(dirname(path), root);
      await replaceFile(path, JSON.stringify(metadata));
      return metadata;
    },
    remove: (namespace, name) => removeFile(pathOf(namespace, name), root),
  };
}
