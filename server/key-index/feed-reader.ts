import { answerWithin } from "../../runtime/deadline.ts";
import type { Logger } from "../../runtime/log.ts";
import type { FeedPosition } from "../../store/replicas/replicas.ts";
import type { Feed } from "./feed.ts";
import type { KeyIndex } from "./key-index.ts";
import type { IndexMetrics } from "./metrics.ts";
import type { ServedState } from "./served-state.ts";
import type { SharedCells } from "./shared-cells.ts";

/**
 * Milliseconds that a snapshot may take, and so may changes of which it is known that they are there: they may be many.
 */
export const SNAPSHOT_MS = 60_000;
/** Changes that are asked for at once. */
const BATCH = 1_000;

type FeedReaderDeps = {
  readonly feed: Feed;
  readonly log: Logger;
  readonly metrics: Pick<IndexMetrics, "countRollback">;
  readonly state: ServedState;
  readonly cells: SharedCells;
  /** Called when something was applied. */
  readonly onApplied: () => void;
};

/**
 * Reads the contents of the index, and applies them: a snapshot, and the changes after it. It knows which change was
 * applied last, and by that whether the database was rolled back.
 */
export class FeedReader {
  readonly #deps: FeedReaderDeps;
  #last: FeedPosition | null = null;
  /**
   * True while the effects of a rollback are to be repaired: sessions that had ended may live in the database, and uses
   * of keys are lost.
   */
  #mustMakeGood = false;

  constructor(deps: FeedReaderDeps) {
    this.#deps = deps;
  }

  /** The last change applied; null before the first snapshot. */
  get last(): FeedPosition | null {
    return this.#last;
  }

  /** Repairs the effects of a rollback, beside the beats; if that fails, it is repeated with the next round. */
  makeGood(): void {
    if (!this.#mustMakeGood) return;
    this.#mustMakeGood = false;
    this.#deps.feed.makeGood().catch(() => {
      this.#mustMakeGood = true;
    });
  }

  /** Reads everything anew, and replaces the old index when the new one is whole. */
  async load(): Promise<FeedPosition> {
    const { feed, log } = this.#deps;
    let index: KeyIndex | undefined;
    const read = await answerWithin(
      SNAPSHOT_MS,
      feed.snapshot((keys, total) => {
        index ??= this.#deps.state.emptyIndex(total);
        for (const key of keys) index.add(key);
      }),
    );
    this.#deps.state.replace(index ?? this.#deps.state.emptyIndex(0), read);
    this.#last = { seq: read.head, id: read.headId };
    this.#deps.cells.seq[0] = read.head;
    this.#deps.onApplied();
    log.info({ seq: read.head, count: this.#deps.state.keyCount }, "the key index was loaded");
    return this.#last;
  }

  /**
   * Applies the changes after `from`. Each answer has the id of the last change that was applied, as of the same
   * moment: a database that is rolled back in between is noticed.
   *
   * @param withinMs milliseconds that each answer may take
   */
  async catchUp(from: FeedPosition, withinMs: number): Promise<FeedPosition> {
    for (let last = from; ; ) {
      const read = await answerWithin(withinMs, this.#deps.feed.changesAfter(last.seq, BATCH));
      if (read.gone || read.idOfSeq !== last.id) {
        const isPruned = read.idOfSeq === null && read.head >= last.seq;
        if (!isPruned) this.reportRollback(last.seq, read.head);
        return this.load();
      }
      const newest = read.changes.at(-1);
      if (newest === undefined) return last;
      await this.#deps.state.apply(read);
      this.#deps.onApplied();
      last = { seq: newest.seq, id: newest.id };
      this.#last = last;
      this.#deps.cells.seq[0] = last.seq;
      if (newest.seq >= read.head) return last;
    }
  }

  /** Reports that changes which were applied are gone, and repairs the effects. */
  reportRollback(seq: number, head: number): void {
    this.#mustMakeGood = true;
    this.#deps.metrics.countRollback();
    this.#deps.log.error({ seq, head }, "the database was rolled back: changes that were applied are not in it");
    this.makeGood();
  }
}
