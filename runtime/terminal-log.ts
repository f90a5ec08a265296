/**
 * Log for people at a terminal: each line has the time, the level, the message and its fields. Of an error only the
 * messages are shown; its frames are in the JSON that is written everywhere else.
 */
import { styleText } from "node:util";
import type { DestinationStream } from "pino";

/** Properties of the user's terminal. */
export type Terminal = { readonly hasColours: boolean };

type Style = Parameters<typeof styleText>[0];

const LEVELS: Readonly<Record<number, readonly [name: string, style: Style]>> = {
  20: ["debug", "gray"],
  30: ["info", "green"],
  40: ["warn", "yellow"],
  50: ["error", "red"],
};

/**
 * Converts the log's JSON to lines for people.
 *
 * @param write writes text to the terminal
 */
export function terminalLines({ hasColours }: Terminal, write: (text: string) => void): DestinationStream {
  return {
    write(json) {
      // Our own, from `createLog`.
      const { level, time, msg, error, ...fields }: LogRecord = JSON.parse(json);
      const [name, style] = LEVELS[level] ?? [String(level), "gray"];
      const about = Object.entries(fields).map(([field, value]) => `${field}=${printable(String(value))}`);
      const clock = new Date(time).toTimeString().slice(0, 8);
      const what = printable(error === undefined ? msg : `${msg}: ${messagesOf(error)}`);
      write(
        `${styled(hasColours, "gray", clock)} ${styled(hasColours, style, name.padEnd(5))} ${[what, ...about].join("  ")}\n`,
      );
    },
  };
}

/** Returns a text with its style if the terminal has colours, else as it is. */
export function styled(hasColours: boolean, style: Style, text: string): string {
  return hasColours ? styleText(style, text, { validateStream: false }) : text;
}

type LoggedError = { readonly message?: string; readonly name: string; readonly cause?: LoggedError };
type LogRecord = {
  readonly level: number;
  readonly time: string;
  readonly msg: string;
  readonly error?: LoggedError;
  readonly [field: string]: unknown;
};

/** Returns an error's message and those of its causes. A message that the previous one already contains is left out. */
function messagesOf({ message, name, cause }: LoggedError): string {
  const text = message || name;
  const deeper = cause === undefined ? "" : messagesOf(cause);
  return deeper === "" || text.includes(deeper) ? text : `${text}: ${deeper}`;
}

/** Escapes characters that would move the cursor, or begin a line that looks like another log line. */
function printable(text: string): string {
  return text.replace(/\p{C}|\p{Zl}|\p{Zp}/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}
