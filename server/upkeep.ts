import type { Logger } from "../runtime/log.ts";
import { startPeriodically } from "../runtime/periodic.ts";
import type { Store } from "../store/database/store.ts";
import { maintainTables } from "../store/database/table-upkeep.ts";
import { libraryDeletion } from "../store/memory/libraries/deleted-libraries.ts";
import { expiredDeletion } from "../store/memory/rows/expired-atoms.ts";
import { rollUp } from "../store/usage/roll-up.ts";

const UPKEEP_INTERVAL_MS = 30_000;

/**
 * Looks after the database while the server runs: sums requests and tokens up by hour and by day, deletes what deleted
 * libraries held and what has expired, bit by bit, and keeps the embedded database analysed and vacuumed. What fails is
 * tried again with the next round.
 *
 * @returns ends it, and waits for what is under way
 */
export function startUpkeep(store: Store, log: Logger): () => Promise<void> {
  return startPeriodically({
    intervalMs: UPKEEP_INTERVAL_MS,
    async run(signal) {
      await rollUp(store, signal);
      const deletion = libraryDeletion(store);
      while (!signal.aborted && (await deletion.next()));
      const expired = expiredDeletion(store);
      while (!signal.aborted && (await expired.next()));
      if (!signal.aborted && store.engine === "pglite") await maintainTables(store);
    },
    onFailure: (error) => log.warn({ error }, "maintenance of the database failed; it is tried again"),
  });
}
