/** What Node.js would write to standard error by itself, as lines of the log: its warnings, and errors that end a process. */
import type { Logger } from "./log.ts";

/**
 * Has warnings of Node.js in this thread logged, in place of the text that Node.js prints. Once for a thread.
 *
 * @param log by whose lines they are reported
 */
export function logWarnings(log: Logger): void {
  // Node's own listener is what prints them.
  process.removeAllListeners("warning");
  process.on("warning", (error) => log.warn({ error }, `Node.js warns: ${error.name}`));
}

/**
 * Has an error that nothing catches logged, a rejection that nothing handles too: the process ends by it with exit code
 * 1, as without this. What ends Node.js itself, such as the end of its memory, still comes as text.
 */
export function logUncaught(log: Logger): void {
  process.on("uncaughtException", (error) => {
    log.error({ error }, "an error that nothing handles ends the process");
    process.exit(1);
  });
}
