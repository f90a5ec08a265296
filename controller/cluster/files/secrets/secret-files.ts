/**
 * Data of Secrets as files, DATA/secrets/<namespace>/<secret>/<data key>, without their owners. A new Secret appears
 * whole, by the rename of a folder; an old Secret is changed file by file. Plaintext is never outside of this tree.
 */
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assertNoLink, ensureFolder, type Standing, standingAt, syncFolder } from "../disk.ts";
import { entriesOf, subfoldersOf } from "../listing.ts";
import { isNamespaceName, isObjectName, secretFolder } from "../paths.ts";
import { identifyFolder, readFolder } from "./secret-folder.ts";
import { createSecretReplacements, type DataKeysOf } from "./secret-replacements.ts";
import { createSecretStaging, type Data } from "./secret-staging.ts";

export type SecretFiles = {
  /** Drops the drafts of a process that was killed, and settles every Secret that has something left to be done. */
  recover(): Promise<void>;
  /**
   * Ends a replacement that was interrupted: carries it out if the Secret's folder still exists, else forgets it. Call
   * it before anything else is done to a Secret, so that an interrupted write never wins over a later one.
   */
  settle(namespace: string, name: string): Promise<void>;
  standing(namespace: string, name: string): Promise<Standing>;
  /** Returns a text of the names, inodes, times and sizes at a Secret's path; undefined if nothing is there. */
  identify(namespace: string, name: string): Promise<string | undefined>;
  /** Reads the data, from regular files alone: links are not followed, and files that are too large are left out. */
  read(namespace: string, name: string): Promise<Data>;
  /**
   * Creates a Secret's folder. Fails with EEXIST, ENOTEMPTY or ENOTDIR, and without a trace, if anything but an empty
   * folder is there.
   */
  create(namespace: string, name: string, data: Data): Promise<void>;
  /** Replaces the data. `onCommitted` is called once the replacement is certain to come about. */
  replace(namespace: string, name: string, data: Data, onCommitted: () => void): Promise<void>;
  remove(namespace: string, name: string): Promise<void>;
  /** Lists the Secrets at whose path something is, ours or not; none behind links. */
  list(): Promise<{ namespace: string; name: string }[]>;
};

/**
 * Makes the reader and writer of the tree. A link or a file at the path of a folder is left alone with all that is
 * behind it: nothing is written through it, and the writes that it is in the way of fail with ENOTDIR.
 *
 * @param uniqueName returns a new name each time, for drafts
 */
export function createSecretFiles(root: string, uniqueName: () => string, dataKeysOf: DataKeysOf): SecretFiles {
  const staging = createSecretStaging(root, uniqueName);
  const replacements = createSecretReplacements(root, dataKeysOf);
  const folderOf = (namespace: string, name: string) => secretFolder(root, namespace, name);

  async function create(namespace: string, name: string, data: Data): Promise<void> {
    const folder = folderOf(namespace, name);
    await assertNoLink(folder, root);
    await staging.stage(data, async (draft) => {
      await ensureFolder(dirname(folder), root);
      await assertNoLink(folder, root);
      await rename(draft, folder);
    });
    await syncFolder(dirname(folder));
  }

  async function replace(namespace: string, name: string, data: Data, onCommitted: () => void): Promise<void> {
    await assertNoLink(folderOf(namespace, name), root);
    await staging.stage(data, (draft) => replacements.commit(namespace, name, draft));
    onCommitted();
    await replacements.carryOut(namespace, name, Object.keys(data));
  }

  async function list(): Promise<{ namespace: string; name: string }[]> {
    const found: { namespace: string; name: string }[] = [];
    if ((await standingAt(root, root)) !== "folder") return found;
    for (const namespace of (await subfoldersOf(root)).filter(isNamespaceName)) {
      for (const name of (await entriesOf(join(root, namespace))).filter(isObjectName)) found.push({ namespace, name });
    }
    return found;
  }

  return {
    async recover() {
      if ((await standingAt(root, root)) === "other") return;
      await ensureFolder(root);
      await staging.recover();
      await replacements.recover();
    },
    settle: replacements.settle,
    standing: (namespace, name) => standingAt(folderOf(namespace, name), root),
    identify: (namespace, name) => identifyFolder(folderOf(namespace, name), root),
    read: (namespace, name) => readFolder(folderOf(namespace, name), root),
    create,
    replace,
    remove: async (namespace, name) => staging.discard(folderOf(namespace, name)),
    list,
  };
}
