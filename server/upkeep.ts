import type { Logger } from "../runtime/log.ts";
import type { Store } from "../store/database/store.ts";
import { maintainTables } from "../store/database/table-upkeep.ts";
import { libraryDeletion } from "../store/memory/deleted-libraries.ts";
import { expiredDeletion } from "../store/memory/expired-atoms.ts";

const UPKEEP_INTERVAL_MS = 30_000;

/**
 * Looks after the database while the server runs: deletes what deleted libraries held and what has expired, bit by
 * bit, and keeps the embedded database analysed and vacuumed. What fails is tried again with the next round.
 */
export function startUpkeep(store: Store, log: Logger, intervalMs = UPKEEP_INTERVAL_MS): { close(): Promise<void> } {
  let isClosed = false;
  let round = Promise.resolve();
  let isUnderWay = false;

  async function lookAfter(): Promise<void> {
    isUnderWay = true;
    try {
      const deletion = libraryDeletion(store);
      while (!isClosed && (await deletion.next()));
      const expired = expiredDeletion(store);
      while (!isClosed && (await expired.next()));
      if (!isClosed && store.engine === "pglite") await maintainTables(store);
    } catch (error) {
      if (!isClosed) log.warn({ error }, "the database could not be looked after; it is tried again");
    } finally {
      isUnderWay = false;
    }
  }

  const timer = setInterval(() => {
    if (!isUnderWay) round = lookAfter();
  }, intervalMs);
  timer.unref();
  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      await round;
    },
  };
}
