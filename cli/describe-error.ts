import { errorMessage } from "../domain/error-text.ts";
import { hasCode } from "../runtime/error-code.ts";
import { DISK_FULL } from "../store/database/errors.ts";

/** What to do about what the system refuses, by its code. */
const ADVICE: readonly (readonly [readonly string[], string])[] = [
  [["EADDRINUSE"], "choose another with --port or --admin-port"],
  [["EADDRNOTAVAIL"], "this machine does not have that address: choose another with --host or --admin-host"],
  [["ENOSPC", "EDQUOT", DISK_FULL], "make room there, then start again"],
  [["EROFS"], "it can only be read: choose another folder, or mount it for writing"],
  [["ENOTDIR", "EEXIST"], "something else is where a folder or file should be: move it away, or choose another folder"],
];
const PORT_REFUSED = "this user may not listen there: choose a --port and --admin-port of 1024 or more";
const FILE_REFUSED = "this user may not do that: see whose it is, or choose another folder";

/**
 * An error for a person: what happened, and where the system refused something, what and what to do about it. Other
 * causes stay inside: their texts may quote what was read.
 */
export function describeError(error: unknown): string {
  const text = errorMessage(error);
  const refusal = refusalIn(error);
  if (refusal === undefined) return text;
  const why = text.includes(refusal.message) ? text : `${text}: ${refusal.message}`;
  return `${why}: ${refusal.advice}`;
}

function refusalIn(error: unknown): { message: string; advice: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const advice = wayOutOf(error);
  return advice === undefined ? refusalIn(error.cause) : { message: errorMessage(error), advice };
}

function wayOutOf(error: Error): string | undefined {
  if (hasCode(error, "EACCES", "EPERM")) {
    return "syscall" in error && error.syscall === "listen" ? PORT_REFUSED : FILE_REFUSED;
  }
  return ADVICE.find(([codes]) => hasCode(error, ...codes))?.[1];
}
