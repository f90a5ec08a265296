import { KubeconfigError } from "../../controller/cluster/kubernetes/api/kubeconfig-error.ts";
import { errorMessage } from "../../domain/error-text.ts";
import { redactKeys } from "../../domain/redact.ts";
import { hasCode } from "../../runtime/error-code.ts";
import { ConfigError } from "../../runtime/settings.ts";
import {
  DISK_FULL,
  EncodingError,
  ListenError,
  SchemaVersionError,
  ServerVersionError,
} from "../../store/database/errors.ts";
import { databaseAdvice } from "./database-advice.ts";
import { plainText } from "./plain-text.ts";

/** Advice for errors of the system, by code. */
const ADVICE: readonly (readonly [readonly string[], string])[] = [
  [["EADDRINUSE"], "choose another with --port or --admin-port"],
  [["EADDRNOTAVAIL"], "this machine does not have that address: choose another with --host or --admin-host"],
  [["ENOSPC", "EDQUOT", DISK_FULL], "make room there, then start again"],
  [["EROFS"], "it can only be read: choose another folder with --data, or mount it for writing"],
  [
    ["ENOTDIR", "EEXIST"],
    "something else is where a folder or file should be: move it away, or choose another folder with --data",
  ],
];
const PORT_REFUSED = "this user may not listen there: choose a --port and --admin-port of 1024 or more";
const FILE_REFUSED = "this user may not do that: see who owns it, or choose another folder with --data";

/** Errors about the database that a URL leads to; their messages say what to do. */
const OF_DATABASE = [SchemaVersionError, ServerVersionError, EncodingError, ListenError];

/** Prefix of every error line of a command. */
export const ERROR_PREFIX = "keyplane: ";

/** Returns the lines that a person reads of an error: several if several flags are wrong. */
export function errorLines(error: unknown): string[] {
  const faults = error instanceof ConfigError ? error.faults.map(redactKeys) : [describeError(error)];
  return faults.map((fault) => `${ERROR_PREFIX}${plainText(fault.replaceAll(/\s*\n\s*/g, " "))}`);
}

/**
 * Describes an error for a person: what happened, and if the system refused something, what that was and what to do.
 * Other causes are left out, since their texts may quote data.
 */
export function describeError(error: unknown): string {
  const text = errorMessage(error);
  if (error instanceof KubeconfigError) return `--kubeconfig: ${text}`;
  if (OF_DATABASE.some((kind) => error instanceof kind)) return `--database-url: ${text}`;
  const advice = databaseAdvice(error);
  if (advice !== undefined) return `--database-url: ${text}: ${advice}`;
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
