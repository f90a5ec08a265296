import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../../runtime/log.ts";
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
} from "../../store/database/errors.ts";
import { requestIdOf } from "./request-id.ts";

/** Every problem that the server reports by itself: its status, its title, and the detail that a caller may see. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: "Bad request", detail: "The request is not valid." },
  subject_required: {
    status: 400,
    title: "Subject required",
    detail: "This key serves many subjects: say whose memory each call means in the header X-Keyplane-Subject.",
  },
  unauthorized: {
    status: 401,
    title: "Unauthorized",
    detail:
      "A valid API key is needed: send it as `Authorization: Bearer <key>`, or where the provider's SDK puts its own. This one is missing, malformed, unknown, revoked, expired or suspended, or it is not a key for this gateway. A PlatformKey has one issued, and so does the console at /dashboard.",
  },
  forbidden: { status: 403, title: "Forbidden", detail: "This key does not have the right to do this." },
  address_not_allowed: {
    status: 403,
    title: "Address not allowed",
    detail: "This key may not be used from this address.",
  },
  forbidden_origin: {
    status: 403,
    title: "Forbidden",
    detail: "Requests for this Host or from this Origin are refused.",
  },
  not_found: { status: 404, title: "Not found", detail: "There is nothing here." },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    detail: "This method is not served here; the Allow header names those that are.",
  },
  not_acceptable: { status: 406, title: "Not acceptable", detail: "No representation fits the Accept header." },
  request_timeout: {
    status: 408,
    title: "Request timeout",
    detail: "The request's body came too slowly: less than 30 KiB in 30 seconds.",
  },
  conflict: { status: 409, title: "Conflict", detail: "The resource has changed since it was read: read it again." },
  exists: { status: 409, title: "Conflict", detail: "An object of this name exists: `id` says which." },
  too_many_versions: {
    status: 409,
    title: "Too many versions",
    detail: "The limit of earlier versions that still work is reached: `retiresAt` says when the next of them ends.",
  },
  managed: {
    status: 409,
    title: "Managed elsewhere",
    detail: "A declaration governs this: change the declaration.",
  },
  precondition_failed: {
    status: 412,
    title: "Precondition failed",
    detail: "It has changed since it was read: read it again, and send the change with the ETag that it has now.",
  },
  payload_too_large: {
    status: 413,
    title: "Content too large",
    detail: "The body is larger than this operation takes.",
  },
  uri_too_long: { status: 414, title: "URI too long", detail: "A part of the path is longer than any that is served." },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    detail: "The Content-Type, or the Content-Encoding, is not one that this operation reads.",
  },
  expectation_failed: {
    status: 417,
    title: "Expectation failed",
    detail: "Only `Expect: 100-continue` is understood.",
  },
  invalid: { status: 422, title: "Not valid", detail: "The content is not valid: `errors` says where." },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency key in use",
    detail:
      "Another request was made with this Idempotency-Key: `id` is what it made. Use a new key for a new request.",
  },
  upgrade_required: { status: 426, title: "Upgrade required", detail: "Protocol upgrades are not served here." },
  precondition_required: {
    status: 428,
    title: "Precondition required",
    detail: "Send the header If-Match with the ETag that was read, so that no other change is undone.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    detail: "This key's rate limit is used up: try again later.",
  },
  budget_exceeded: {
    status: 429,
    title: "Budget exceeded",
    detail: "A budget of this key, of its team or of several teams has no room for this call until it begins anew.",
  },
  headers_too_large: {
    status: 431,
    title: "Request header fields too large",
    detail: "The request's headers are too large.",
  },
  internal: {
    status: 500,
    title: "Internal server error",
    detail: "The request failed here; the cause is in the log.",
  },
  bad_gateway: { status: 502, title: "Bad gateway", detail: "The upstream did not give a usable answer." },
  upstream_credential_refused: {
    status: 502,
    title: "Upstream credential refused",
    detail:
      "The upstream refuses the credential that this gateway has for it. Your key is not at fault: the owner of the gateway replaces the credential in the Secret that the ModelGateway names.",
  },
  unavailable: {
    status: 503,
    title: "Service unavailable",
    detail: "This replica cannot prove at present that its view of the keys is current: try again.",
  },
  gateway_timeout: { status: 504, title: "Gateway timeout", detail: "The upstream did not answer in time." },
  insufficient_storage: {
    status: 507,
    title: "Insufficient storage",
    detail: "The database's disk is full, and nothing was written: make room there, and send the request again.",
  },
} as const satisfies Record<string, { status: number; title: string; detail: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Headers that belong to a problem wherever it is answered. */
const HEADERS: Partial<Record<ProblemCode, Readonly<Record<string, string>>>> = {
  unauthorized: { "www-authenticate": "Bearer" },
  request_timeout: { connection: "close" },
  upstream_credential_refused: { "x-should-retry": "false" },
  unavailable: { "retry-after": "1" },
};
const NO_HEADERS: Readonly<Record<string, string>> = {};

/** A refusal or failure that may be shown to the caller as it stands: nothing of its text comes from inside. */
export class Problem extends Error {
  readonly status: number;
  readonly code: ProblemCode;
  readonly title: string;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the document that belong to its code. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    code: ProblemCode,
    detail: string | undefined,
    headers: Readonly<Record<string, string>> | undefined,
    members: Readonly<Record<string, unknown>>,
  ) {
    const entry = PROBLEMS[code];
    super(entry.title);
    this.name = "Problem";
    this.status = entry.status;
    this.code = code;
    this.title = entry.title;
    this.detail = detail ?? entry.detail;
    this.headers = headers ?? HEADERS[code] ?? NO_HEADERS;
    this.members = members;
  }
}

/**
 * Makes a problem to throw, or to hand to a hook's `done`.
 *
 * @param detail what the caller should change; the catalogue's text where it is left out. Never put into it what came
 *   from inside, nor the presented key.
 * @param headers instead of the ones that belong to the code
 * @param members of the document, besides those that every problem has
 */
export function problem(
  code: ProblemCode,
  detail?: string,
  headers?: Readonly<Record<string, string>>,
  members: Readonly<Record<string, unknown>> = {},
): Problem {
  return new Problem(code, detail, headers, members);
}

/**
 * The body of a problem document (RFC 9457).
 *
 * @param requestId as its answer's head has it; a 401 is the same text for all, and has none
 */
export function problemDocument({ status, code, title, detail, members }: Problem, requestId: string): string {
  const id = code === "unauthorized" ? {} : { requestId };
  return JSON.stringify({ type: `urn:keyplane:problem:${code}`, title, status, code, detail, ...members, ...id });
}

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

/** Of RFC 9110: they change nothing. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
/**
 * Of what another replica may answer: the connection ends with it. A balancer of connections, such as a Service of
 * Kubernetes, leaves a replica out of new ones alone, and a kept one would lead its caller to this replica for as long
 * as its database is away.
 */
const ELSEWHERE = { ...HEADERS.unavailable, connection: "close" };
/** Of a replica whose view of the keys is not current. */
export const STALE_VIEW = problem("unavailable", undefined, ELSEWHERE);
const UNREAD = problem("unavailable", "The database does not answer: try again.", ELSEWHERE);
/** The answer to a COMMIT may be what was lost. */
const IN_DOUBT = problem(
  "unavailable",
  "The database does not answer. The change may have been made all the same: read what is there now, or send the same request again.",
  ELSEWHERE,
);
/** How a request may be sent again without a second effect. */
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
/** That the database has stopped altogether looks the same at first. */
const MEMORY_TOO_LATE = "The memory took too long, and was stopped:";
const UNREAD_MEMORY = problem(
  "unavailable",
  `${MEMORY_TOO_LATE} ask for less, or for rarer words, or try again.`,
  ELSEWHERE,
);
const MEMORY_IN_DOUBT = problem(
  "unavailable",
  `${MEMORY_TOO_LATE} the change may have been made all the same. Read what is there now.`,
  ELSEWHERE,
);

/**
 * The problem to show for anything that was thrown. What is not a {@link Problem} loses its text here: the framework's
 * own refusals become the catalogue's of the same status, all else is `internal`.
 *
 * @param method of the request: whether something may have been changed
 * @param repetition undefined where the same request again may have a second effect
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
    return problem("unavailable", `The memory took too long, and was stopped. ${REPEATS[repetition]}`, ELSEWHERE);
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
    const known = typeof statusCode === "number" ? CODE_OF_STATUS[statusCode] : undefined;
    if (known !== undefined && (typeof code === "string" ? code.startsWith("FST_") : error instanceof SyntaxError)) {
      return problem(known);
    }
  }
  return problem("internal");
}

/** Whether the log has to report a problem: a fault that callers cannot mend, whichever part of the server answered. */
export function isForOperator(shown: Problem): boolean {
  return shown.code === "internal" || shown.code === "insufficient_storage";
}

/** Logs a failure that {@link isForOperator}, with its request's route and id. */
export function logFailure(
  log: Logger,
  { method, raw, routeOptions }: FastifyRequest,
  { error, shown, message }: { readonly error: unknown; readonly shown: Problem; readonly message: string },
): void {
  if (!isForOperator(shown)) return;
  log.error({ error, method, route: routeOptions.url, requestId: requestIdOf(raw) }, message);
}

/** Says where a body or a query breaks its schema: the place and the rule, never the value. */
function validationDetail(faults: readonly unknown[]): string {
  const [first] = faults;
  if (typeof first !== "object" || first === null) return PROBLEMS.invalid_request.detail;
  const { instancePath, message }: { instancePath?: unknown; message?: unknown } = first;
  return `${typeof instancePath === "string" && instancePath !== "" ? instancePath : "The value"} ${typeof message === "string" ? message : "is not valid"}.`;
}

/** The root error handler: renders problem documents, and logs what was not one without its text's secrets. */
export function errorHandler(log: Logger): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const isOnce =
      request.routeOptions.config.docs?.idempotent !== undefined && request.headers["idempotency-key"] !== undefined;
    const shown = problemOf(error, request.method, isOnce ? "by its Idempotency-Key" : undefined);
    logFailure(log, request, { error, shown, message: "a request failed" });
    sendProblem(reply, shown);
  };
}

/** Answers with a problem document. */
export function sendProblem(reply: FastifyReply, shown: Problem): void {
  const document = problemDocument(shown, requestIdOf(reply.request.raw));
  reply.code(shown.status).headers(shown.headers).type("application/problem+json").send(document);
}
