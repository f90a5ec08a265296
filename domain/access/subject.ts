/** The request header that names the subject of a call of the memory: an end user or an agent. */
export const SUBJECT_HEADER = "x-keyplane-subject";

/**
 * Subject whose memory a key is for: always the same subject, or the subject that each call names. A key without a rule
 * is for the shared memory.
 */
export type SubjectRule =
  | { readonly mode: "Bound"; readonly subject: string }
  /** Each call names a subject. */
  | { readonly mode: "Required" };

/** Parses a valid `subjectAccess`; null for none. */
export function declareSubject(
  access: { readonly mode: SubjectRule["mode"]; readonly subject?: string } | undefined,
): SubjectRule | null {
  if (access === undefined) return null;
  return access.mode === "Required" ? { mode: "Required" } : { mode: "Bound", subject: access.subject ?? "" };
}

/** Formats a rule for people. */
export function subjectText({
  mode,
  subject = "",
}: {
  readonly mode: SubjectRule["mode"];
  readonly subject?: string;
}): string {
  return mode === "Bound" ? subject : "whom each call names";
}

/** Reason for which the subject of a call is not clear, or not allowed. */
export type SubjectFault = "malformed" | "missing" | "another" | "not_declared";

/**
 * Form of a subject as JSON Schema; a PlatformKey has the same (crds/). The alphabet has what identity providers put into
 * ids, such as `auth0|4711`, and excludes the separators with which a proxy joins two headers.
 */
export const SUBJECT_FORM = {
  type: "string",
  minLength: 1,
  maxLength: 128,
  pattern: "^[A-Za-z0-9._@:+=/|-]+$",
} as const;
/** The form in words, for people. */
export const SUBJECT_CHARACTERS = `1 to ${SUBJECT_FORM.maxLength} of the characters A-Z a-z 0-9 . _ @ : + = / | and -`;
const SUBJECT = new RegExp(SUBJECT_FORM.pattern);

export function isSubject(text: string): boolean {
  return text.length <= SUBJECT_FORM.maxLength && SUBJECT.test(text);
}

/**
 * Decides whose memory a call means: the only place that does. A subject that a call names is never ignored.
 *
 * @param named the values of the header, in the order of their lines
 * @returns `subject` undefined for the shared memory
 */
export function meantSubject(
  rule: SubjectRule | null,
  named: readonly string[],
): { readonly subject: string | undefined } | { readonly fault: SubjectFault } {
  const [subject] = named;
  if (rule === null) return subject === undefined ? { subject } : { fault: "not_declared" };
  if (subject === undefined) return rule.mode === "Bound" ? { subject: rule.subject } : { fault: "missing" };
  if (named.length > 1 || !isSubject(subject)) return { fault: "malformed" };
  return rule.mode === "Required" || rule.subject === subject ? { subject } : { fault: "another" };
}
