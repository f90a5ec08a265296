import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds for which one event-loop turn is taken up. */
const TURN = 5;

/** Does something to each of many items, and lets the event loop do other work in between. */
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
