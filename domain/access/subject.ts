/** The request header that names the subject of a call of the memory: an end user or an agent. */
export const SUBJECT_HEADER = "x-keyplane-subject";

/**
 * Whose memory a key is for: of one subject always, or of the one that each call names. A key without a rule is for what
 * is shared.
 */
export type SubjectRule =
  | { readonly mode: "Bound"; readonly subject: string }
  /** Each call names one. */
  | { readonly mode: "Required" };

/** Reads a valid `subjectAccess`; null for none. */
export function declareSubject(
  access: { readonly mode: SubjectRule["mode"]; readonly subject?: string } | undefined,
): SubjectRule | null {
  if (access === undefined) return null;
  return access.mode === "Required" ? { mode: "Required" } : { mode: "Bound", subject: access.subject ?? "" };
}

/** For people. */
export function subjectText({
  mode,
  subject = "",
}: {
  readonly mode: SubjectRule["mode"];
  readonly subject?: string;
}): string {
  return mode === "Bound" ? subject : "whom each call names";
}

/** Why it is not clear whose memory a call means, or why it may not be that one's. */
export type SubjectFault = "malformed" | "missing" | "another" | "not_declared";

/**
 * What a subject is, as JSON Schema says it; a PlatformKey says the same (crds/). Of one alphabet that needs no quoting
 * anywhere: what a proxy makes of two headers is none.
 */
export const SUBJECT_FORM = {
  type: "string",
  minLength: 1,
  maxLength: 128,
  pattern: "^[A-Za-z0-9._@:+=/-]+$",
} as const;
/** The same for people. */
export const SUBJECT_CHARACTERS = `1 to ${SUBJECT_FORM.maxLength} of the characters A-Z a-z 0-9 . _ @ : + = / and -`;
const SUBJECT = new RegExp(SUBJECT_FORM.pattern);

export function isSubject(text: string): boolean {
  return text.length <= SUBJECT_FORM.maxLength && SUBJECT.test(text);
}

/**
 * Decides whose memory a call means: the only place that does. What a call names is never ignored.
 *
 * @param named the values of the header, in the order of their lines
 * @returns `subject` undefined for what is shared
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
