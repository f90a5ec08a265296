import { defined } from "../domain/defined.ts";
import { type LogFields, type Logger, MAX_CAUSES } from "./log.ts";

/** Maximum number of lines of one kind that are written in a window; the rest are counted. */
const MAX_ALIKE = 10;
const WINDOW_MS = 60_000;
/** Maximum number of kinds counted by themselves in a window; beyond these, a line's kind is its message alone. */
const MAX_KINDS = 1_000;

type Kind = { readonly write: Logger["warn"]; readonly fields: LogFields; readonly message: string; count: number };

/** Maximum number of lines of one kind in a window, and the length of the window in milliseconds. */
export type Sampling = { readonly maxAlike: number; readonly windowMs: number };

/**
 * Makes a log that warnings and errors cannot flood: of lines with the same message about the same object, for the same
 * cause, the first are written, and then one line with the count of the others (threats b97).
 */
export function sampleLog(
  log: Logger,
  { maxAlike, windowMs }: Sampling = { maxAlike: MAX_ALIKE, windowMs: WINDOW_MS },
): Logger {
  const kinds = new Map<string, Kind>();
  const endWindow = (): void => {
    const ended = [...kinds.values()];
    kinds.clear();
    for (const { write, fields, message, count } of ended) {
      if (count > maxAlike) write({ ...fields, count: count - maxAlike }, `${message} (repeated, as counted)`);
    }
  };
  const sampled = (write: Logger["warn"]): Logger["warn"] => {
    return (fields, message) => {
      if (kinds.size === 0) setTimeout(endWindow, windowMs).unref();
      const name = kindOf(fields, message);
      const key = kinds.has(name) || kinds.size < MAX_KINDS ? name : message;
      const kind = kinds.get(key) ?? { write, fields: aboutWhat(fields), message, count: 0 };
      kinds.set(key, kind);
      kind.count++;
      if (kind.count <= maxAlike) write(fields, message);
    };
  };
  return { debug: log.debug, info: log.info, warn: sampled(log.warn), error: sampled(log.error) };
}

/** Returns the fields that name what a line is about, without those that differ each time. */
function aboutWhat({ gatewayId, upstream, route, operation, status, cause }: LogFields): LogFields {
  return defined({ gatewayId, upstream, route, operation, status, cause });
}

function kindOf(fields: LogFields, message: string): string {
  return JSON.stringify([message, aboutWhat(fields), codeOf(fields.error)]);
}

/** Returns an error's own code, or the first code among its causes. */
function codeOf(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return undefined;
  return "code" in error ? error.code : codeOf(error.cause, depth + 1);
}
