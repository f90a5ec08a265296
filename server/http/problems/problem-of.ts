import {
  CallerLeftError,
  DatabaseBusyError,
  DatabaseUnavailableError,
  DISK_FULL,
  InvalidAtomError,
  MemoryBusyError,
  MemoryTimeoutError,
  SearchTextError,
  sqlState,
} from "../../../store/database/errors.ts";
import { SAFE_METHODS } from "../safe-methods.ts";
import { HEADERS_OF_PROBLEMS, PROBLEMS, type ProblemCode } from "./catalogue.ts";
import { Problem, problem } from "./problem.ts";

const CODE_OF_STATUS: Readonly<Record<number, ProblemCode>> = {
  400: "invalid_request",
  404: "not_found",
  405: "method_not_allowed",
  406: "not_acceptable",
  408: "request_timeout",
  413: "payload_too_large",
  414: "uri_too_long",
  415: "unsupported_media_type",
  503: "unavailable",
};

/**
 * Headers of a failure that another replica may not have: the connection ends with it. A balancer of connections, such
 * as a Service of Kubernetes, only keeps new connections off a replica, and a kept connection would lead its caller to
 * this replica for as long as its database is away.
 */
export const ELSEWHERE: Readonly<Record<string, string>> = { ...HEADERS_OF_PROBLEMS.unavailable, connection: "close" };
/** Refusal by a replica whose view of the keys is not current. */
export const STALE_VIEW = problem("unavailable", undefined, ELSEWHERE);
const UNREAD = problem("unavailable", "The database does not answer: try again.", ELSEWHERE);
/** Failure of a change whose outcome is unknown: the lost answer may be that of its COMMIT. */
const IN_DOUBT = problem(
  "unavailable",
  "The database does not answer. The change may have been made all the same: read what is there now, or send the same request again.",
  ELSEWHERE,
);
const UNREADABLE_PATH = problem(
  "invalid_request",
  "The path holds percent signs that encode no text in UTF-8: write a percent sign itself as %25.",
);
/** Ways to send a request again without a second effect. */
type Repetition = "by its Idempotency-Key" | "as it is";
const REPEAT = "The change may have been made all the same:";
const REPEATS: Readonly<Record<Repetition, string>> = {
  "by its Idempotency-Key": `${REPEAT} send the same request again with the same Idempotency-Key.`,
  "as it is": `${REPEAT} repeat the same call, which has no second effect.`,
};
const DISK_IS_FULL = problem("insufficient_storage");
const MEMORY_BUSY = {
  team: problem("rate_limited", "The team has too many calls of the memory under way: try again later.", {
    "retry-after": "1",
  }),
  all: problem("unavailable", "The memory has more to do than it can: try again later."),
} as const;
const DATABASE_BUSY = {
  team: problem("rate_limited", "The team has too many requests of the management API under way: try again later.", {
    "retry-after": "1",
  }),
  all: problem("unavailable", "The management API has more to do than it can: try again later.", {
    "retry-after": "1",
  }),
} as const;
/** Text for a memory call that timed out. A database that has stopped altogether looks the same at first. */
const MEMORY_TOO_LATE = "The database took too long, and the call was stopped";
const UNREAD_MEMORY = problem(
  "unavailable",
  `${MEMORY_TOO_LATE}: try again, or search for less or for rarer words.`,
  ELSEWHERE,
);
const MEMORY_IN_DOUBT = problem(
  "unavailable",
  `${MEMORY_TOO_LATE}: the change may have been made all the same. Read what is there now.`,
  ELSEWHERE,
);

/**
 * Returns the problem to show for any error. An error that is no {@link Problem} loses its text here: the framework's
 * own refusals become the catalogue's problems of the same status, all others are `internal`.
 *
 * @param method method of the request, which tells whether something may have been changed
 * @param repetition undefined if the same request again may have a second effect
 */
export function problemOf(error: unknown, method = "GET", repetition?: Repetition): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof DatabaseUnavailableError) {
    if (SAFE_METHODS.has(method)) return UNREAD;
    if (repetition === undefined) return IN_DOUBT;
    return problem("unavailable", `The database does not answer. ${REPEATS[repetition]}`, ELSEWHERE);
  }
  if (sqlState(error) === DISK_FULL && !SAFE_METHODS.has(method)) return DISK_IS_FULL;
  if (error instanceof MemoryBusyError) return MEMORY_BUSY[error.of];
  if (error instanceof DatabaseBusyError) return DATABASE_BUSY[error.of];
  if (error instanceof MemoryTimeoutError) {
    if (SAFE_METHODS.has(method)) return UNREAD_MEMORY;
    if (repetition === undefined) return MEMORY_IN_DOUBT;
    return problem("unavailable", `${MEMORY_TOO_LATE}. ${REPEATS[repetition]}`, ELSEWHERE);
  }
  if (error instanceof SearchTextError || error instanceof InvalidAtomError) {
    return problem("invalid_request", error.message);
  }
  // No caller is left to read it.
  if (error instanceof CallerLeftError) return problem("unavailable");
  if (error instanceof Error) {
    const { code, statusCode, validation }: Error & { code?: unknown; statusCode?: unknown; validation?: unknown } =
      error;
    if (Array.isArray(validation)) return problem("invalid_request", validationDetail(validation));
    // The framework was reading a body whose caller has left: no client sees this, and it is no fault of ours.
    if (code === "ECONNRESET" && statusCode === 400) return problem("invalid_request");
    if (code === "FST_ERR_BAD_URL") return UNREADABLE_PATH;
    const known = typeof statusCode === "number" ? CODE_OF_STATUS[statusCode] : undefined;
    if (known !== undefined && (typeof code === "string" ? code.startsWith("FST_") : error instanceof SyntaxError)) {
      return problem(known);
    }
  }
  return problem("internal");
}

/** Describes where a body or a query breaks its schema: the path and the rule, never the value. */
function validationDetail(faults: readonly unknown[]): string {
  const [first] = faults;
  if (typeof first !== "object" || first === null) return PROBLEMS.invalid_request.detail;
  const { instancePath, message }: { instancePath?: unknown; message?: unknown } = first;
  return `${typeof instancePath === "string" && instancePath !== "" ? instancePath : "The value"} ${typeof message === "string" ? message : "is not valid"}.`;
}
