import { redactKeys } from "./redact.ts";

/** The longest line that an error may take, in characters. */
const MAX_LENGTH = 300;

/** What a log line, an event or a status may say of an error: the first line of its message. */
export function errorText(error: unknown): string {
  const [line = ""] = errorMessage(error).split("\n");
  return line.slice(0, MAX_LENGTH);
}

/** An error's whole message for a person who runs a command, without anything that may be a key: it may quote one. */
export function errorMessage(error: unknown): string {
  return redactKeys(error instanceof Error ? error.message : String(error));
}

/** What OpenSSL says of itself besides is of its sources: `...:SSL routines:a_function:wrong version number:a_file:78:`. */
const OF_OPENSSL = /:SSL routines:[^:]*:([^:]+):/;

/** Why a request got no answer: `fetch` has it in the cause of what it throws, at times as a class alone. */
export function connectionErrorText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = errorText(cause) || (cause instanceof Error ? cause.name : "");
  return OF_OPENSSL.exec(text)?.[1] ?? text;
}

/** What becomes of a request whose connection ends before its answer, by Node's and undici's codes. */
const BROKEN: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Whether a request got no answer because its connection ended: what it asked for may have been done. */
export function isBrokenConnection(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if ("code" in one && BROKEN.has(one.code)) return true;
  return false;
}
