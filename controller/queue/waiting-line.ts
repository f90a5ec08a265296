/** The names that wait for a worker of the queue, and which of them is next. */

/** From the first to the last: what is urgent, what is half done, and all else. Within each, the oldest first. */
const LANES = ["urgent", "resumed", "ordinary"] as const;
export type Lane = (typeof LANES)[number];

/** After so many urgent names in a row one of the others has its turn, so that none starves. */
const MAX_URGENT_IN_A_ROW = 3;

/** @param since when it began to wait, in milliseconds on a clock that never jumps */
type Waiting<T> = { readonly item: T; readonly since: number };

export type WaitingLine<T> = {
  /** Whether the name was not waiting yet. One that was goes to the lane where that is an earlier one. */
  put(lane: Lane, name: string, entry: Waiting<T>): boolean;
  /** Takes the next name out. */
  take(): readonly [name: string, Waiting<T>] | undefined;
  size(): number;
  clear(): void;
};

export function createWaitingLine<T>(): WaitingLine<T> {
  /** By name; a Map keeps them in the order they came. */
  const lanes: Readonly<Record<Lane, Map<string, Waiting<T>>>> = {
    urgent: new Map(),
    resumed: new Map(),
    ordinary: new Map(),
  };
  let urgentInARow = 0;

  return {
    put(lane, name, entry) {
      const before = LANES.find((one) => lanes[one].has(name));
      const known = before === undefined ? undefined : lanes[before].get(name);
      if (before !== undefined && LANES.indexOf(before) <= LANES.indexOf(lane)) return false;
      if (before !== undefined) lanes[before].delete(name);
      lanes[lane].set(name, known ?? entry);
      return before === undefined;
    },
    take() {
      const [first, ...others] = LANES;
      for (const lane of urgentInARow < MAX_URGENT_IN_A_ROW ? LANES : [...others, first]) {
        const next = lanes[lane].entries().next();
        if (next.done) continue;
        lanes[lane].delete(next.value[0]);
        urgentInARow = lane === "urgent" ? urgentInARow + 1 : 0;
        return next.value;
      }
      return undefined;
    },
    size: () => LANES.reduce((sum, lane) => sum + lanes[lane].size, 0),
    clear: () => LANES.forEach((lane) => void lanes[lane].clear()),
  };
}
