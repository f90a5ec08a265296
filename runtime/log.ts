/**
 * The log: lines for people on a terminal, JSON everywhere else, with a closed list of fields. A field that is not in
 * {@link LogFields} cannot be written, so that no header, URL or body enters a line by way of an object that happens to
 * hold one.
 */
import { isatty } from "node:tty";
import { type DestinationStream, pino } from "pino";
import type { LogLevel } from "./log-level.ts";
import { LogOutput } from "./log-output.ts";
import { terminalLines } from "./terminal-log.ts";

/** Fields that a line may have besides its message. */
export type LogFields = {
  readonly error?: unknown;
  readonly keyId?: string;
  readonly prefix?: string;
  readonly teamId?: string;
  readonly gatewayId?: string;
  readonly upstream?: string;
  readonly method?: string;
  /** Pattern of the matched route, never the URL. */
  readonly route?: string | undefined;
  readonly operation?: string | undefined;
  /** Request id in the answer's head. */
  readonly requestId?: string;
  readonly decision?: string;
  readonly cause?: string;
  readonly status?: number;
  readonly replica?: string;
  readonly seq?: number;
  readonly head?: number;
  readonly count?: number;
  readonly milliseconds?: number;
  readonly address?: string;
  readonly team?: string;
};

const FIELDS: Readonly<Record<Exclude<keyof LogFields, "error">, true>> = {
  keyId: true,
  prefix: true,
  teamId: true,
  gatewayId: true,
  upstream: true,
  method: true,
  requestId: true,
  route: true,
  operation: true,
  decision: true,
  cause: true,
  status: true,
  replica: true,
  seq: true,
  head: true,
  count: true,
  milliseconds: true,
  address: true,
  team: true,
};

type Write = (fields: LogFields, message: string) => void;
export type Logger = { readonly debug: Write; readonly info: Write; readonly warn: Write; readonly error: Write };

/**
 * Makes the log.
 *
 * @param destination destination of its JSON; standard output if left out
 */
export function createLog(level: LogLevel | "silent", destination: DestinationStream = standardOutput()): Logger {
  const sink = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  // Describing an error takes its frames, which no line below the level shows.
  const writeAt =
    (of: keyof Logger): Write =>
    (fields, message) => {
      if (sink.isLevelEnabled(of)) sink[of](allowed(fields), message);
    };
  return { debug: writeAt("debug"), info: writeAt("info"), warn: writeAt("warn"), error: writeAt("error") };
}

/** Output of this thread, once it has a log on standard output. */
let output: LogOutput | undefined;

/** Returns standard output for the log of any thread: a worker's own `process.stdout` does not know of the terminal. */
function standardOutput(): DestinationStream {
  // Reading this in the main thread makes a pipe or a socket non-blocking, for the workers too.
  const { stdout } = process;
  output ??= openOutput();
  const lines = output;
  const terminal = isatty(STDOUT) ? { hasColours: stdout.isTTY && stdout.hasColors() } : undefined;
  return terminal === undefined ? lines : terminalLines(terminal, (text) => lines.write(text));
}

/** Returns this thread's standard output, for lines that are JSON already: among those of its log, in their order. */
export function jsonOutput(): Pick<LogOutput, "write" | "isWritten" | "isGone" | "dropped"> {
  standardOutput();
  output ??= openOutput();
  return output;
}

const STDOUT = 1;

function openOutput(): LogOutput {
  // First of all: another listener may end the process.
  process.prependListener("exit", flushLog);
  return new LogOutput(STDOUT, {
    onSpace: (count) =>
      createLog("warn").warn({ count }, "lines of the log were dropped here: standard output did not take them"),
    onGone: () => createLog("error", process.stderr).error({}, GONE),
  });
}

const GONE =
  "what reads standard output is gone: no line of the log leaves this process until it is started again, and none of the audit log, which another server writes, or this one then";

/** Milliseconds that a thread gives the reader of its log when the thread ends. */
const FLUSH_MS = 1_000;

/** Writes the lines that this thread keeps for standard output, as far as they are read within a second. */
export function flushLog(): void {
  output?.flush(FLUSH_MS);
}

/** Returns the number of log lines that this thread has dropped on standard output. */
export function droppedLogLines(): number {
  return output?.dropped ?? 0;
}

function allowed(fields: LogFields): Record<string, unknown> {
  const line: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(FIELDS, name)) line[name] = value;
  }
  if (fields.error !== undefined) line.error = describeError(fields.error);
  return line;
}

/** Maximum depth to which a chain of causes is followed. */
export const MAX_CAUSES = 4;

/** Describes an error for the log: its class, code, redacted message and frames, and the same of its causes. */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code }: Error & { code?: unknown } = error;
  const frames = error.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  return {
    name: error.name,
    ...(typeof code === "string" && { code }),
    message: redact(error.message),
    frames: frames.map((line) => line.trim()).slice(0, 8),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** Maximum length of an error's message in a line. */
const MAX_MESSAGE = 500;

/**
 * Removes from a foreign text whatever may be a secret: queries of URLs, credentials behind a scheme or a header's
 * name, keys, and any long run of characters that may be a token.
 */
export function redact(text: string): string {
  return text
    .slice(0, 4 * MAX_MESSAGE)
    .replace(/\?[^\s"'<>]*/g, "?[redacted]")
    .replace(/\b(bearer|basic)\s+[^\s"',;]+/gi, "$1 [redacted]")
    .replace(/\b(authorization|[a-z-]*key|token|password|secret)(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi, "$1$2[redacted]")
    .replace(/(inf_|sk-)[^\s"',;]*/g, "$1[redacted]")
    .replace(/[A-Za-z0-9+/_=-]{20,}/g, "[redacted]")
    .slice(0, MAX_MESSAGE);
}
