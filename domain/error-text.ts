import { redactKeys } from "./redact.ts";

/** Maximum length of an error in a log line, in characters. */
const MAX_LENGTH = 300;

/** Returns the part of an error for a log line, an event or a status: the first line of its message. */
export function errorText(error: unknown): string {
  const [line = ""] = errorMessage(error).split("\n");
  return line.slice(0, MAX_LENGTH);
}

/** Returns an error's whole message for a person who runs a command, without anything in it that may be a key. */
export function errorMessage(error: unknown): string {
  return redactKeys(error instanceof Error ? error.message : String(error));
}

/** Pattern of an OpenSSL error with its source: `...:SSL routines:a_function:wrong version number:a_file:78:`. */
const OF_OPENSSL = /:SSL routines:[^:]*:([^:]+):/;

/** Returns why a request got no answer. `fetch` has the reason in the cause of its error, at times only as a class. */
export function connectionErrorText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = errorText(cause) || (cause instanceof Error ? cause.name : "");
  return OF_OPENSSL.exec(text)?.[1] ?? text;
}

/** Codes of Node's and undici's errors for a request whose connection ends before its answer. */
const BROKEN: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** True if a request got no answer because its connection ended: the request may have been carried out. */
export function isBrokenConnection(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if ("code" in one && BROKEN.has(one.code)) return true;
  return false;
}
