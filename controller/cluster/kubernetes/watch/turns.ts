import { setImmediate as nextTurn } from "node:timers/promises";

/** How long one turn of the event loop is taken up, in milliseconds. */
const TURN = 5;

/** Does something to each of many items; other work gets its turn in between. */
export async function eachInTurns<T>(items: readonly T[], act: (item: T) => void): Promise<void> {
  let began = performance.now();
  for (const item of items) {
    if (performance.now() - began > TURN) {
      await nextTurn();
      began = performance.now();
    }
    act(item);
  }
}
