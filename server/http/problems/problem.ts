import { HEADERS_OF_PROBLEMS, PROBLEMS, type ProblemCode } from "./catalogue.ts";

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Refusal or failure that may be shown to the caller as it is: nothing in its text is internal. */
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
 * Makes a problem to throw, or to pass to a hook's `done`.
 *
 * @param detail advice on what the caller should change; the catalogue's text by default. It must contain neither
 * internal text nor the presented key.
 * @param headers replacement for the headers that belong to the code
 * @param members members of the document, besides those that every problem has
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
 * Returns the body of a problem document (RFC 9457).
 *
 * @param requestId id in the head of the answer; a 401 has the same text for all, and no id
 */
export function problemDocument({ status, code, title, detail, members }: Problem, requestId: string): string {
  const id = code === "unauthorized" ? {} : { requestId };
  return JSON.stringify({ type: `urn:keyplane:problem:${code}`, title, status, code, detail, ...members, ...id });
}
