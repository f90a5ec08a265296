/** Group commit: items that are handed in one by one are processed together with the items that come meanwhile. */
import { setImmediate as nextIteration } from "node:timers/promises";

export type BatcherOptions<T> = {
  /** Processes all of a batch, or nothing of it. */
  readonly run: (items: readonly T[]) => Promise<number>;
  readonly maxSize: number;
  /**
   * True if a failure is that of each item. Any other failure may be of one item, and the rest does not have to share
   * it.
   */
  readonly isCommon: (error: unknown) => boolean;
};

/**
 * Makes a function that processes an item in a batch, one batch at a time. Items that come in the same iteration of the
 * event loop, or while a batch is under way, wait for the next batch. A batch that fails is halved until the items that
 * fail are alone.
 *
 * @returns function that resolves with the result of `run` for the batch of its item
 */
export function createBatcher<T>({ run, maxSize, isCommon }: BatcherOptions<T>): (item: T) => Promise<number> {
  type PendingItem = { readonly item: T; resolve(result: number): void; reject(error: unknown): void };
  const waiting: PendingItem[] = [];
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    await nextIteration();
    while (waiting.length > 0) await runBatch(waiting.splice(0, maxSize));
    isRunning = false;
  }

  async function runBatch(batch: readonly PendingItem[]): Promise<void> {
    try {
      const result = await run(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve(result);
    } catch (error) {
      if (batch.length === 1 || isCommon(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      const middle = batch.length >> 1;
      await runBatch(batch.slice(0, middle));
      await runBatch(batch.slice(middle));
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isRunning) void runAll();
    });
}
