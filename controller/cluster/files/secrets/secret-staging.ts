/**
 * DATA/secrets/.staging, a name that no namespace can have: the data of a Secret is written here in full before it is
 * moved to its path, and a Secret is moved here at once before it is removed.
 */
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assertNoLink, ensureFolder, syncFolder, whenMissing, writeNewFile } from "../disk.ts";
import { dataKeyPath } from "../paths.ts";

/** Text by data key. */
export type Data = Readonly<Record<string, string>>;

type SecretStaging = {
  /** Drops the drafts of a process that was killed. */
  recover(): Promise<void>;
  /** Writes a draft and calls `move` to move it to its path; if that fails, nothing is left of the draft. */
  stage(data: Data, move: (draft: string) => Promise<void>): Promise<void>;
  /** Removes a Secret's folder, if there is one: the whole of it at once. */
  discard(folder: string): Promise<void>;
};

/**
 * @param root the tree of Secrets
 * @param uniqueName returns a new name each time
 */
export function createSecretStaging(root: string, uniqueName: () => string): SecretStaging {
  const staging = join(root, ".staging");

  async function writeDraft(data: Data): Promise<string> {
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

  return {
    async recover() {
      await rm(staging, { recursive: true, force: true });
      // If it cannot be made, the write that needs it says why.
      await ensureFolder(staging, root).catch(() => {});
    },
    async stage(data, move) {
      const draft = await writeDraft(data);
      try {
        await move(draft);
      } catch (error) {
        await rm(draft, { recursive: true, force: true });
        throw error;
      }
    },
    async discard(folder) {
      const discarded = join(staging, uniqueName());
      await ensureFolder(staging, root);
      await assertNoLink(folder, root);
      await rename(folder, discarded).catch(whenMissing(undefined));
      await syncFolder(dirname(folder)).catch(whenMissing(undefined));
      await rm(discarded, { recursive: true, force: true });
    },
  };
}
