import { setImmediate } from "node:timers/promises";

/** Characters that are compared before others have their turn: some milliseconds' work. */
const MAX_LENGTH_AT_ONCE = 8_192;

/** What is called before each text that is worked on, so that others have their turn every few milliseconds. */
export function takeTurns(): (text: string) => Promise<void> {
  let length = 0;
  return async (text) => {
    length += text.length;
    if (length <= MAX_LENGTH_AT_ONCE) return;
    length = 0;
    await setImmediate();
  };
}
