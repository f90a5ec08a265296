/**
 * Queue of the names that wait and of those that are in hand, after client-go's queue: a name waits at most once, is in
 * hand at most once, and waits again if it was added meanwhile.
 */
import { createLaneQueue, type EarlyLane, type Lane } from "./lane-queue.ts";

export type NameQueueMetrics = {
  /** Sets the number of names that wait now. */
  depth(waiting: number): void;
  added(): void;
  started(waitedMs: number): void;
};

export type NameQueueOptions<T> = {
  /** Returns the name of an item. Items of one name are equivalent: it is not promised which of them is taken. */
  readonly key: (item: T) => string;
  /**
   * Returns the lane in which an item passes the items that wait where they were added; undefined if it passes none.
   * Called whenever the item begins to wait, or is added again.
   */
  readonly earlyLane?: (item: T) => EarlyLane | undefined;
  /** Returns the group of an item, such as its namespace: the groups of those that wait take turns. */
  readonly group: (item: T) => string;
  /** Clock in milliseconds that never jumps. */
  readonly clock: { monotonic(): number };
  readonly metrics?: NameQueueMetrics;
};

type NameQueue<T> = {
  /**
   * Makes the item wait in that lane, at once or after it was in hand. Returns true if its name has come to wait by
   * this.
   */
  add(lane: Lane, item: T): boolean;
  /** Takes the next name in hand. */
  get(): { readonly name: string; readonly item: T; readonly isUrgent: boolean } | undefined;
  /**
   * Notes that the name is in hand no longer.
   *
   * @param remains true if there is more to do for it, which waits until no urgent name does
   */
  done(name: string, item: T, remains: boolean): void;
  /** Returns the number of names in hand. */
  inHand(): number;
  /** Drops the names that wait, and those that would wait again. */
  clear(): void;
};

export function createNameQueue<T>(options: NameQueueOptions<T>): NameQueue<T> {
  const { key, group, clock, metrics, earlyLane = () => undefined } = options;
  const waiting = createLaneQueue<T>();
  /** Names in hand; `again` is true if the name was added meanwhile. */
  const working = new Map<string, { readonly isUrgent: boolean; again: boolean }>();

  /** Makes a name wait. Returns true if it was not waiting yet. */
  function enter(lane: Lane, name: string, item: T): boolean {
    const isNew = waiting.put(lane, name, { item, group: group(item), since: clock.monotonic() });
    metrics?.depth(waiting.size());
    return isNew;
  }

  return {
    add(lane, item) {
      const name = key(item);
      const inHand = working.get(name);
      if (inHand !== undefined) {
        if (!inHand.again) metrics?.added();
        inHand.again = true;
        return false;
      }
      const isNew = enter(earlyLane(item) ?? lane, name, item);
      if (isNew) metrics?.added();
      return isNew;
    },
    get() {
      const next = waiting.take([...working.values()].some((one) => one.isUrgent));
      if (next === undefined) return undefined;
      const { lane, name, entry } = next;
      const isUrgent = lane === "urgent";
      working.set(name, { isUrgent, again: false });
      metrics?.depth(waiting.size());
      metrics?.started(clock.monotonic() - entry.since);
      return { name, item: entry.item, isUrgent };
    },
    done(name, item, remains) {
      const again = working.get(name)?.again;
      working.delete(name);
      if (again) enter(earlyLane(item) ?? "ordinary", name, item);
      else if (remains) enter("remaining", name, item);
    },
    inHand: () => working.size,
    clear() {
      waiting.clear();
      for (const one of working.values()) one.again = false;
      metrics?.depth(0);
    },
  };
}
