/** The embedded database of a data folder, which knows whose folder it is when `cluster-id` does not. */
import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { SchemaVersionError } from "../../store/database/errors.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPGlite } from "../../store/database/pglite/pglite.ts";
import type { EmbeddedStore } from "../../store/database/store.ts";
import { type DeclaredCluster, declaredClusters } from "../../store/declared-clusters.ts";
import { UsageError } from "../command/usage-error.ts";

/** Opened once, for the first caller, with the folder's lock held. */
export function embeddedDatabase(data: string) {
  let opened: Promise<EmbeddedStore> | undefined;

  async function openMigrated(): Promise<EmbeddedStore> {
    const store = await openPGlite(join(data, "db"));
    try {
      await migrate(store);
      return store;
    } catch (error) {
      await store.close();
      if (!(error instanceof SchemaVersionError)) throw error;
      throw new UsageError(`--data ${data}: ${error.message}`);
    }
  }
  const open = (): Promise<EmbeddedStore> => (opened ??= openMigrated());

  /** What could not be opened is not there to be closed. */
  async function close(): Promise<void> {
    await (await opened?.catch(() => undefined))?.close();
  }

  return {
    open,
    close,

    /**
     * The id that a lost `cluster-id` had (threats c53).
     *
     * @returns undefined where nothing was declared yet
     * @throws Error where there are several: only the owner knows which one it was
     */
    async lostClusterId(): Promise<string | undefined> {
      if (!(await isThere(join(data, "db")))) return undefined;
      const clusters = await declaredClusters((await open()).db);
      if (clusters.length <= 1) return clusters[0]?.cluster;
      // The lock goes with what is thrown here.
      await close();
      throw new Error(
        `${join(data, "cluster-id")} is missing, and the database has keys of several: ${listOf(clusters)}. ` +
          "Write the right one into that file; nothing was changed.",
      );
    },

    /**
     * Asks for the objects of DATA before anything takes what they declared for gone (threats c53). Folders of them
     * stay when the last one is removed, so that none at all are a loss.
     *
     * @throws Error where there are none, and the database has what they declared
     */
    async assertObjects(uid: string): Promise<void> {
      const objects = join(data, "objects");
      if ((await readdir(objects)).length > 0) return;
      const cluster = (await declaredClusters((await open()).db)).find(({ cluster }) => cluster === uid);
      if (cluster === undefined) return;
      throw new Error(
        `${objects} is empty, and the database has what was declared (${cluster.keys} living keys): put it back from ` +
          `a backup. If it is lost for good, make the folder ${join(objects, "_cluster")}: then what was declared ends, ` +
          "and of each key that is declared still, keyplane up says what its Secret needs to be made anew.",
      );
    },

    /** @throws Error where the folder's id is none of those that the database has rows of */
    async assertClusterId(uid: string): Promise<void> {
      const clusters = await declaredClusters((await open()).db);
      if (clusters.length === 0 || clusters.some(({ cluster }) => cluster === uid)) return;
      throw new Error(
        `${join(data, "cluster-id")} says ${uid}, and the database has keys of another: ${listOf(clusters)}. ` +
          "Put the file back, or delete it: then the one of the database is taken. Nothing was changed.",
      );
    },
  };
}

function listOf(clusters: readonly DeclaredCluster[]): string {
  return clusters.map(({ cluster, keys }) => `${cluster} (${keys} living keys)`).join(", ");
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
