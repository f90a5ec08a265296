import { HEADERS_OF_PROBLEMS, PROBLEMS, type ProblemCode } from "./catalogue.ts";

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
    this.headers = headers ?? HEADERS_OF_PROBLEMS[code] ?? NO_HEADERS;
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
