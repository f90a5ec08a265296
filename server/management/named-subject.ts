import { containsKey } from "../../domain/redact.ts";
import { actorOf } from "../auth/tokens/claims.ts";
import { problem } from "../http/problems/problem.ts";

/** Schema of a subject in a body. */
export const SUBJECT = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: "^[ -~]+$",
  description: "As its tokens name it.",
} as const;

/**
 * Requires a subject that tokens can name. Any other would be reported as cut off although its tokens work on. @throws
 * Problem `invalid_request` for a subject that holds a key or names its issuer
 */
export function assertSubject(subject: string, issuers: readonly string[]): void {
  if (containsKey(subject)) throw HOLDS_KEY;
  const named = issuers.map((issuer) => actorOf(issuer, { subject: "" })).find((start) => subject.startsWith(start));
  if (named === undefined) return;
  throw problem("invalid_request", `The subject is named with its issuer, as in the audit log: leave "${named}" out.`);
}

const HOLDS_KEY = problem(
  "invalid_request",
  "The subject holds what looks like a key, which is revoked as a key: name who the tokens are of, it is kept.",
);
