import { Kysely } from "kysely";
import { ManagementSlots } from "../management-slots.ts";
import { memoryDatabase } from "../memory-database.ts";
import type { Database } from "../schema.ts";
import type { EmbeddedStore, Store } from "../store.ts";
import { ConnectionQueue, type Priority } from "./connection-queue.ts";
import { PGliteClient } from "./pglite-client.ts";
import { pgliteDialect } from "./pglite-dialect.ts";

/**
 * Limits of the memory's calls. One runs at a time: a second could only wait for the one connection, and would go
 * before other teams' calls. As many may wait as short saves can be done within the time that a call may wait.
 */
const MEMORY = { running: 1, runningPerTeam: 1, waiting: 1_024, waitingPerTeam: 512 };

/** Limits of the management API. One call runs at a time here too: the connection's queue is in order of arrival. */
const MANAGED = { running: 1, runningPerTeam: 1, waiting: 512, waitingPerTeam: 128 };

/**
 * Opens the embedded database in a folder, or in memory for `memory://`. Creates it if there is none. Only one process
 * may open it: the caller holds the folder's lock (architecture §2, the files cluster). PGlite has one connection, in a
 * thread of its own; queries that keep the key index current go before all others that wait for it.
 */
export async function openPGlite(folder: string): Promise<EmbeddedStore> {
  const client = await PGliteClient.open(folder);
  const queue = new ConnectionQueue();
  let writes = 0;
  const countWrite = () => void writes++;
  const access = (priority: Priority) => ({
    ...{ client, queue, priority },
    onWrite: priority === "feed" ? undefined : countWrite,
  });
  const databaseOf = (priority: Priority, signal?: AbortSignal) =>
    new Kysely<Database>({ dialect: pgliteDialect({ ...access(priority), ...(signal ? { signal } : {}) }) });

  async function alone<T>(body: () => Promise<T>): Promise<T> {
    await queue.acquire("feed");
    try {
      return await body();
    } finally {
      queue.release();
    }
  }

  const listen: Store["listen"] = async (channel, onNotify, onEnd) => {
    await alone(() => client.listen(channel, onNotify));
    let isClosed = false;
    client.failed.then((error) => {
      if (!isClosed) onEnd(error);
    });
    return {
      ping: async () => void (await alone(() => client.run("select 1"))),
      async close() {
        isClosed = true;
        await alone(() => client.unlisten(channel, onNotify));
      },
    };
  };

  const memory = memoryDatabase(MEMORY, (signal) => databaseOf("memory", signal));
  const slots = new ManagementSlots(MANAGED);
  const storeOf = (priority: Priority): Store => ({
    db: new Kysely<Database>({ dialect: pgliteDialect({ ...access(priority), slots }) }),
    unauthenticatedDb: databaseOf("unauthenticated"),
    backgroundDb: databaseOf("background"),
    backgroundRows: 100,
    engine: "pglite",
    memory,
    listen,
    writes: () => writes,
    copyRows: undefined,
    withConnection: (body) => databaseOf(priority).connection().execute(body),
    close: () => alone(() => client.close()),
  });
  return { ...storeOf("general"), feedStore: storeOf("feed"), failed: client.failed };
}
