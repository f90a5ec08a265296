/**
 * The names that wait and those that are in hand, after client-go's queue: a name waits at most once, is in one hand at
 * a time, and waits again when it was added meanwhile.
 */
import { createWaitingLine, type Lane } from "./waiting-line.ts";

export type NameQueueMetrics = {
  /** How many names wait now. */
  depth(waiting: number): void;
  added(): void;
  started(waitedMs: number): void;
};

export type NameQueueOptions<T> = {
  /** The name of an item. Items of one name are the same: which of them is taken is not promised. */
  readonly key: (item: T) => string;
  /** Whether an item passes those that are not: asked whenever it begins to wait, or is added again. */
  readonly isUrgent?: (item: T) => boolean;
  /** Milliseconds on a clock that never jumps. */
  readonly clock: { monotonic(): number };
  readonly metrics?: NameQueueMetrics;
};

type NameQueue<T> = {
  /** Has the item wait in that lane, at once or after it was in hand. Whether its name has come to wait by this. */
  add(lane: Lane, item: T): boolean;
  /** Takes the next name in hand. */
  get(): { readonly name: string; readonly item: T } | undefined;
  /** The name is in hand no longer. */
  done(name: string, item: T): void;
  /** How many names are in hand. */
  inHand(): number;
  /** Drops what waits, and what would wait again. */
  clear(): void;
};

export function createNameQueue<T>(options: NameQueueOptions<T>): NameQueue<T> {
  const { key, clock, metrics, isUrgent = () => false } = options;
  const waiting = createWaitingLine<T>();
  /** The names in hand, each with whether it was added meanwhile. */
  const working = new Map<string, { again: boolean }>();

  /** Whether it was not waiting yet. */
  function enter(lane: Lane, name: string, item: T): boolean {
    const isNew = waiting.put(isUrgent(item) ? "urgent" : lane, name, { item, since: clock.monotonic() });
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
      const isNew = enter(lane, name, item);
      if (isNew) metrics?.added();
      return isNew;
    },
    get() {
      const next = waiting.take();
      if (next === undefined) return undefined;
      const [name, { item, since }] = next;
      working.set(name, { again: false });
      metrics?.depth(waiting.size());
      metrics?.started(clock.monotonic() - since);
      return { name, item };
    },
    done(name, item) {
      const again = working.get(name)?.again;
      working.delete(name);
      if (again) enter("ordinary", name, item);
    },
    inHand: () => working.size,
    clear() {
      waiting.clear();
      for (const one of working.values()) one.again = false;
      metrics?.depth(0);
    },
  };
}
