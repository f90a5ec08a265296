/** Queue of the names that wait for a worker: decides which of them is next. */
import { GroupQueue } from "./group-queue.ts";

/** Lanes of what is urgent, and of what remains to be done once nothing urgent waits or is worked on. */
const EARLY_LANES = ["urgent", "remaining"] as const;
/** Lanes of what is half done, and of all else. */
const LATE_LANES = ["resumed", "ordinary"] as const;
/** Lanes from the first to the last. Within each the groups of names take turns, the oldest name of a group first. */
const LANES = [...EARLY_LANES, ...LATE_LANES] as const;
export type EarlyLane = (typeof EARLY_LANES)[number];
export type Lane = (typeof LANES)[number];

/** Number of names of the early lanes in a row after which a late one follows, so that none starves. */
const MAX_EARLY_IN_A_ROW = 3;
const LATE_FIRST: readonly Lane[] = [...LATE_LANES, ...EARLY_LANES];

/**
 * @param group the group that the item takes turns with
 * @param since when it began to wait, in milliseconds on a clock that never jumps
 */
type QueuedItem<T> = { readonly item: T; readonly group: string; readonly since: number };

export type LaneQueue<T> = {
  /**
   * Makes a name wait. Returns true if it was not waiting yet. A name that waits moves if the lane is an earlier one.
   */
  put(lane: Lane, name: string, entry: QueuedItem<T>): boolean;
  /**
   * Takes the next name out.
   *
   * @param isUrgentUnderWay true if an urgent name is being worked on: what remains of others waits for that, too
   */
  take(
    isUrgentUnderWay: boolean,
  ): { readonly lane: Lane; readonly name: string; readonly entry: QueuedItem<T> } | undefined;
  size(): number;
  clear(): void;
};

export function createLaneQueue<T>(): LaneQueue<T> {
  /** Queues by lane. */
  const lanes: Readonly<Record<Lane, GroupQueue<QueuedItem<T>>>> = {
    urgent: new GroupQueue(),
    remaining: new GroupQueue(),
    resumed: new GroupQueue(),
    ordinary: new GroupQueue(),
  };
  let earlyInARow = 0;

  return {
    put(lane, name, entry) {
      const before = LANES.find((one) => lanes[one].has(name));
      const known = before === undefined ? undefined : lanes[before].get(name);
      if (before !== undefined && LANES.indexOf(before) <= LANES.indexOf(lane)) return false;
      if (before !== undefined) lanes[before].delete(name);
      lanes[lane].set(name, known ?? entry);
      return before === undefined;
    },
    take(isUrgentUnderWay) {
      for (const lane of earlyInARow < MAX_EARLY_IN_A_ROW ? LANES : LATE_FIRST) {
        if (lane === "remaining" && (isUrgentUnderWay || lanes.urgent.size > 0)) continue;
        const next = lanes[lane].take();
        if (next === undefined) continue;
        const [name, entry] = next;
        earlyInARow = LANES.indexOf(lane) < EARLY_LANES.length ? earlyInARow + 1 : 0;
        return { lane, name, entry };
      }
      return undefined;
    },
    size: () => LANES.reduce((sum, lane) => sum + lanes[lane].size, 0),
    clear: () => LANES.forEach((lane) => void lanes[lane].clear()),
  };
}
