/**
 * The data of Secrets as files, DATA/secrets/<namespace>/<secret>/<data key>, and nothing about who they belong to.
 * A new Secret appears whole, by the rename of a folder. An old one is changed file by file, since a workload may hold
 * its folder open; what is left to be done is kept beside it until it is done, so that a crash ends in the new state.
 * Plaintext is never outside of this tree.
 */
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  assertNoLink,
  ensureFolder,
  type Standing,
  standingAt,
  syncFolder,
  whenMissing,
  writeNewFile,
} from "./disk.ts";
import { dataKeyPath, isNamespaceName, isObjectName, secretPath } from "./paths.ts";
import { identifyFolder, readFolder } from "./secret-folder.ts";

/** Working folders, which no namespace can be named like. */
const STAGING = ".staging";
const COMMITTED = ".committed";

type Data = Readonly<Record<string, string>>;
/** The names of the data keys that a Secret of ours is to have; undefined where we know of none. */
type DataKeysOf = (namespace: string, name: string) => Promise<readonly string[] | undefined>;

export type SecretFiles = {
  /** Drops the drafts of a process that was killed, and settles every Secret that has something left to be done. */
  recover(): Promise<void>;
  /**
   * Ends a replacement that was interrupted: carries it out where the Secret's folder is still there, else forgets it.
   * Call it before anything else is done to a Secret, so that what was left behind never wins over a later write.
   */
  settle(namespace: string, name: string): Promise<void>;
  standing(namespace: string, name: string): Promise<Standing>;
  /** What stands at a Secret's place, by name, inode, times and size; undefined when nothing is there. */
  identify(namespace: string, name: string): Promise<string | undefined>;
  /** The data, from regular files alone: links are not followed, and what is too large is left out. */
  read(namespace: string, name: string): Promise<Data>;
  /** Fails with EEXIST, ENOTEMPTY or ENOTDIR, and without a trace, where anything but an empty folder is there. */
  create(namespace: string, name: string, data: Data): Promise<void>;
  /** Makes the data what is given. `onCommitted` is called once it is certain to come about. */
  replace(namespace: string, name: string, data: Data, onCommitted: () => void): Promise<void>;
  remove(namespace: string, name: string): Promise<void>;
  /** Every Secret's place where something is, ours or not; none behind links. */
  list(): Promise<{ namespace: string; name: string }[]>;
};

/**
 * Makes what reads and writes the tree. A link or a file in the place of a folder is left alone with all that is behind it: it is never
 * written through, and the writes that it is in the way of fail with ENOTDIR.
 *
 * @param uniqueName a new name each time, for drafts
 */
export function createSecretFiles(root: string, uniqueName: () => string, dataKeysOf: DataKeysOf): SecretFiles {
  const staging = join(root, STAGING);
  const committed = join(root, COMMITTED);
  const folderOf = (namespace: string, name: string) => secretPath(root, namespace, name);

  async function recover(): Promise<void> {
    if ((await standingAt(root, root)) === "other") return;
    await ensureFolder(root);
    await rm(staging, { recursive: true, force: true });
    // Where one of them cannot be made, the write that needs it says why.
    for (const folder of [staging, committed]) await ensureFolder(folder, root).catch(() => {});
    for (const entry of await foldersOf(committed)) {
      const [namespace = "", ...name] = entry.split(".");
      // One that cannot be settled holds up no other: it is tried again when it is read, which then says why.
      await settle(namespace, name.join(".")).catch(() => {});
    }
  }

  async function settle(namespace: string, name: string): Promise<void> {
    const left = committedPath(namespace, name);
    const standing = await standingAt(left, root);
    if (standing === "nothing" || standing === "hidden") return;
    const dataKeys = await dataKeysOf(namespace, name);
    if (dataKeys !== undefined && (await standingAt(folderOf(namespace, name), root)) === "folder") {
      await complete(namespace, name, dataKeys);
    } else {
      await forget(left);
    }
  }

  async function forget(left: string): Promise<void> {
    await assertNoLink(committed, root);
    await rm(left, { recursive: true, force: true });
    await syncFolder(committed);
  }

  async function create(namespace: string, name: string, data: Data): Promise<void> {
    const folder = folderOf(namespace, name);
    await assertNoLink(folder, root);
    const draft = await stage(data);
    try {
      await ensureFolder(dirname(folder), root);
      await assertNoLink(folder, root);
      await rename(draft, folder);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    await syncFolder(dirname(folder));
  }

  async function replace(namespace: string, name: string, data: Data, onCommitted: () => void): Promise<void> {
    await assertNoLink(folderOf(namespace, name), root);
    const draft = await stage(data);
    try {
      await ensureFolder(committed, root);
      await rename(draft, committedPath(namespace, name));
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    onCommitted();
    await syncFolder(committed);
    await complete(namespace, name, Object.keys(data));
  }

  /** Carries a committed replacement out; does no harm when it was carried out in part. */
  async function complete(namespace: string, name: string, dataKeys: readonly string[]): Promise<void> {
    const folder = folderOf(namespace, name);
    const source = committedPath(namespace, name);
    await assertNoLink(source, root);
    await ensureFolder(folder, root);
    for (const key of await readdir(source)) {
      const target = dataKeyPath(folder, key);
      if ((await lstat(target).catch(whenMissing(undefined)))?.isDirectory()) await rm(target, { recursive: true });
      await assertNoLink(folder, root);
      await rename(join(source, key), target);
    }
    for (const entry of await readdir(folder)) {
      await assertNoLink(folder, root);
      if (!dataKeys.includes(entry)) await rm(join(folder, entry), { recursive: true, force: true });
    }
    await syncFolder(folder);
    await forget(source);
  }

  async function remove(namespace: string, name: string): Promise<void> {
    const folder = folderOf(namespace, name);
    const discarded = join(staging, uniqueName());
    await ensureFolder(staging, root);
    await assertNoLink(folder, root);
    await rename(folder, discarded).catch(whenMissing(undefined));
    await syncFolder(dirname(folder)).catch(whenMissing(undefined));
    await rm(discarded, { recursive: true, force: true });
  }

  async function list(): Promise<{ namespace: string; name: string }[]> {
    const found: { namespace: string; name: string }[] = [];
    if ((await standingAt(root, root)) !== "folder") return found;
    for (const namespace of (await foldersOf(root)).filter(isNamespaceName)) {
      for (const name of (await entriesOf(join(root, namespace))).filter(isObjectName)) found.push({ namespace, name });
    }
    return found;
  }

  async function stage(data: Data): Promise<string> {
    await ensureFolder(staging, root);
    const draft = join(staging, uniqueName());
    await mkdir(draft, { mode: 0o700 });
    try {
      for (const [key, text] of Object.entries(data)) await writeNewFile(dataKeyPath(draft, key), text);
      await syncFolder(draft);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    return draft;
  }

  function committedPath(namespace: string, name: string): string {
    folderOf(namespace, name);
    return join(committed, `${namespace}.${name}`);
  }

  return {
    recover,
    settle,
    standing: (namespace, name) => standingAt(folderOf(namespace, name), root),
    identify: (namespace, name) => identifyFolder(folderOf(namespace, name), root),
    read: (namespace, name) => readFolder(folderOf(namespace, name), root),
    create,
    replace,
    remove,
    list,
  };
}

/** What is in a folder; nothing where it cannot be read, which stops no other folder from being looked into. */
const direntsOf = (path: string) => readdir(path, { withFileTypes: true }).catch(() => []);
const entriesOf = async (path: string) => (await direntsOf(path)).map(({ name }) => name);
const foldersOf = async (path: string) =>
  (await direntsOf(path)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
