/**
 * DATA/secrets/.committed, a name that no namespace can have: replacements of a Secret's data that are certain to come
 * about. A Secret is changed file by file, since a workload may hold its folder open. The rest of the work is kept here
 * until it is done, so that a crash ends in the new state.
 */
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { assertNoLink, ensureFolder, standingAt, syncFolder, whenMissing } from "../disk.ts";
import { subfoldersOf } from "../listing.ts";
import { dataKeyPath, secretFolder } from "../paths.ts";

/** Returns the names of the data keys that a Secret of ours is to have; undefined if none are known. */
export type DataKeysOf = (namespace: string, name: string) => Promise<readonly string[] | undefined>;

type SecretReplacements = {
  /** Settles every Secret that has something left to be done. */
  recover(): Promise<void>;
  /** Carries out an interrupted replacement if the Secret's folder still exists; else forgets it. */
  settle(namespace: string, name: string): Promise<void>;
  /** Moves a folder of the new data here: from then on the replacement is certain to come about. */
  commit(namespace: string, name: string, draft: string): Promise<void>;
  /** Carries out a committed replacement. `dataKeys` are the names of all data keys that the Secret has then. */
  carryOut(namespace: string, name: string, dataKeys: readonly string[]): Promise<void>;
};

/** @param root the tree of Secrets */
export function createSecretReplacements(root: string, dataKeysOf: DataKeysOf): SecretReplacements {
  const committed = join(root, ".committed");

  async function settle(namespace: string, name: string): Promise<void> {
    const { folder, left } = pathsOf(namespace, name);
    const standing = await standingAt(left, root);
    if (standing === "nothing" || standing === "hidden") return;
    const dataKeys = await dataKeysOf(namespace, name);
    if (dataKeys !== undefined && (await standingAt(folder, root)) === "folder") {
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

  /** Carries out a replacement, also if part of it was carried out before. */
  async function complete(namespace: string, name: string, dataKeys: readonly string[]): Promise<void> {
    const { folder, left } = pathsOf(namespace, name);
    await assertNoLink(left, root);
    await ensureFolder(folder, root);
    for (const key of await readdir(left)) {
      const target = dataKeyPath(folder, key);
      if ((await lstat(target).catch(whenMissing(undefined)))?.isDirectory()) await rm(target, { recursive: true });
      await assertNoLink(folder, root);
      await rename(join(left, key), target);
    }
    for (const entry of await readdir(folder)) {
      await assertNoLink(folder, root);
      if (!dataKeys.includes(entry)) await rm(join(folder, entry), { recursive: true, force: true });
    }
    await syncFolder(folder);
    await forget(left);
  }

  /** Returns the Secret's folder, and the folder of what is left to be done in it. */
  function pathsOf(namespace: string, name: string): { folder: string; left: string } {
    return { folder: secretFolder(root, namespace, name), left: join(committed, `${namespace}.${name}`) };
  }

  return {
    async recover() {
      // If it cannot be made, the write that needs it says why.
      await ensureFolder(committed, root).catch(() => {});
      for (const entry of await subfoldersOf(committed)) {
        const [namespace = "", ...name] = entry.split(".");
        // A Secret that cannot be settled holds up no other: it is tried again as it is read, and that read says why.
        await settle(namespace, name.join(".")).catch(() => {});
      }
    },
    settle,
    async commit(namespace, name, draft) {
      await ensureFolder(committed, root);
      await rename(draft, pathsOf(namespace, name).left);
    },
    async carryOut(namespace, name, dataKeys) {
      await syncFolder(committed);
      await complete(namespace, name, dataKeys);
    },
  };
}
