import { expiredAtomDeletion } from "../memory/memory.ts";
import { type DatabaseClock, whileSteady } from "../runtime/database-clock.ts";
import type { Logger } from "../runtime/log.ts";
import { startPeriodically } from "../runtime/periodic.ts";
import { unlessIdle } from "../runtime/polling.ts";
import { FOLD_INTERVAL_MS, lineFolding } from "../store/budgets/fold-lines.ts";
import type { Store } from "../store/database/store.ts";
import { maintainTables } from "../store/database/table-upkeep.ts";
import { databaseTime } from "../store/database/times.ts";
import { libraryDeletion } from "../store/libraries/deleted-libraries.ts";
import { rollUp } from "../store/usage/roll-up.ts";

const UPKEEP_INTERVAL_MS = 30_000;

/**
 * Looks after the database while the server runs: sums requests and tokens up by hour and by day, deletes what deleted
 * libraries held and what has expired, bit by bit, folds what ended threads have used of budgets, and keeps the
 * embedded database analysed and vacuumed. Each task runs by itself, since one team's deletion may take hours. A task
 * that fails is tried again in the next round.
 *
 * @returns function that ends the upkeep, and waits for what is under way
 */
export function startUpkeep(
  store: Store,
  clock: DatabaseClock,
  log: Pick<Logger, "warn">,
  intervalMs = UPKEEP_INTERVAL_MS,
): () => Promise<void> {
  // No request waits for any of these tasks.
  const background = { db: store.backgroundDb, engine: store.engine };
  // One deletion for all rounds: a failure ends a round, and the next begins with the next library (threats b292).
  const ofLibraries = libraryDeletion(background);
  const tasks: readonly ((signal: AbortSignal) => Promise<unknown>)[] = [
    (signal) => rollUp(store, signal),
    (signal) => toTheEnd(ofLibraries, signal),
    whileSteady(
      clock,
      () => databaseTime(store.backgroundDb),
      (signal) => toTheEnd(expiredAtomDeletion(background), signal),
    ),
    ...(store.engine === "pglite" ? [() => maintainTables(store)] : []),
  ];
  const onFailure = (error: unknown) => log.warn({ error }, "maintenance of the database failed; it is tried again");
  const ends = tasks.map((run) => startPeriodically({ intervalMs, run: unlessIdle(store.writes, run), onFailure }));
  const ofBudgets = lineFolding(store);
  ends.push(startPeriodically({ intervalMs: FOLD_INTERVAL_MS, run: () => ofBudgets.next(), onFailure }));
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

async function toTheEnd(deletion: { next(): Promise<boolean> }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await deletion.next()));
}
