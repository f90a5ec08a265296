import { setImmediate } from "node:timers/promises";

/** Characters that are worked on in one iteration of the event loop: some milliseconds' work. */
const MAX_LENGTH_AT_ONCE = 8_192;

/** Returns a function to await before each text that is worked on: it lets other tasks run every few milliseconds. */
export function yieldBetweenTexts(): (text: string) => Promise<void> {
  let length = 0;
  return async (text) => {
    length += text.length;
    if (length <= MAX_LENGTH_AT_ONCE) return;
    length = 0;
    await setImmediate();
  };
}
