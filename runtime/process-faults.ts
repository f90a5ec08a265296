/** Log lines for what Node.js would otherwise write to standard error: its warnings, and errors that end a process. */
import type { Logger } from "./log.ts";

/**
 * Logs warnings of Node.js in this thread, instead of the text that Node.js prints. Call it once for a thread.
 *
 * @param log log that gets the warnings
 */
export function logWarnings(log: Logger): void {
  // Node's own listener is what prints them.
  process.removeAllListeners("warning");
  process.on("warning", (error) => log.warn({ error }, `Node.js warns: ${error.name}`));
}

/**
 * Logs an uncaught error or an unhandled rejection. The process then ends with exit code 1, as it would without this.
 * Faults that end Node.js itself, such as running out of memory, are still printed as text.
 */
export function logUncaught(log: Logger): void {
  process.on("uncaughtException", (error) => {
    log.error({ error }, "an error that nothing handles ends the process");
    process.exit(1);
  });
}
