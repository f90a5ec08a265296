/**
 * Embedded database of a data folder. It records the cluster id of its rows, for a folder whose `cluster-id` is lost.
 */
import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { SchemaVersionError } from "../../store/database/errors.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPGlite } from "../../store/database/pglite/pglite.ts";
import type { EmbeddedStore } from "../../store/database/store.ts";
import { type DeclaredCluster, declaredClusters } from "../../store/declared-clusters.ts";
import { UsageError } from "../command/usage-error.ts";

/** Returns access to the database. It is opened once, at the first use, with the folder's lock held. */
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

  /** Closes the database, if it was opened successfully. */
  async function close(): Promise<void> {
    await (await opened?.catch(() => undefined))?.close();
  }

  return {
    open,
    close,

    /**
     * Returns the id that a lost `cluster-id` had (threats c53).
     *
     * @returns undefined if nothing was declared yet
     * @throws Error if the database has several ids: only the owner knows which it was
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
     * Checks that the objects of DATA exist, before what they declared is taken for deleted (threats c53). Their
     * folders remain when the last object is removed, so an empty folder means a loss.
     *
     * @throws Error if there are none, and the database has what they declared
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

    /**
     * Checks that the database has rows of the folder's cluster id, or none at all.
     *
     * @throws Error if it has only rows of other ids
     */
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
