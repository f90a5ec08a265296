/**
 * The names that wait and those that are in hand, after client-go's queue: a name waits at most once, is in one hand at
 * a time, and waits again when it was added meanwhile.
 */
import { createWaitingLine, type EarlyLane, type Lane } from "./waiting-line.ts";

export type NameQueueMetrics = {
  /** How many names wait now. */
  depth(waiting: number): void;
  added(): void;
  started(waitedMs: number): void;
};

export type NameQueueOptions<T> = {
  /** The name of an item. Items of one name are the same: which of them is taken is not promised. */
  readonly key: (item: T) => string;
  /**
   * The lane in which an item passes those that wait where they were added; undefined for one that does not. Asked
   * whenever it begins to wait, or is added again.
   */
  readonly earlyLane?: (item: T) => EarlyLane | undefined;
  /** What an item belongs to, such as a namespace: of several, each has a name worked on in its turn. */
  readonly turn: (item: T) => string;
  /** Milliseconds on a clock that never jumps. */
  readonly clock: { monotonic(): number };
  readonly metrics?: NameQueueMetrics;
};

type NameQueue<T> = {
  /** Has the item wait in that lane, at once or after it was in hand. Whether its name has come to wait by this. */
  add(lane: Lane, item: T): boolean;
  /** Takes the next name in hand. */
  get(): { readonly name: string; readonly item: T; readonly isUrgent: boolean } | undefined;
  /**
   * The name is in hand no longer.
   *
   * @param remains whether there is more to do for it, which waits until no urgent name does
   */
  done(name: string, item: T, remains: boolean): void;
  /** How many names are in hand. */
  inHand(): number;
  /** Drops what waits, and what would wait again. */
  clear(): void;
};

export function createNameQueue<T>(options: NameQueueOptions<T>): NameQueue<T> {
  const { key, turn, clock, metrics, earlyLane = () => undefined } = options;
  const waiting = createWaitingLine<T>();
  /** The names in hand, each with whether it was added meanwhile. */
  const working = new Map<string, { readonly isUrgent: boolean; again: boolean }>();

  /** Whether it was not waiting yet. */
  function enter(lane: Lane, name: string, item: T): boolean {
    const isNew = waiting.put(lane, name, { item, turn: turn(item), since: clock.monotonic() });
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
