import type { FastifyRequest } from "fastify";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Reach } from "../../domain/access/reach.ts";
import { meantSubject, SUBJECT_CHARACTERS, SUBJECT_HEADER, type SubjectFault } from "../../domain/access/subject.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { librariesOf } from "./libraries.ts";

/**
 * Returns the memory that a call reaches, and its subject, for every statement about atoms.
 *
 * @param key key as it is at that moment
 * @throws Problem `subject_required` or `invalid_request` if the call does not name its subject as its key is declared;
 * `forbidden` if it names another subject than the key is bound to
 */
export function reachOfCall(key: KeyRecord, { raw }: Pick<FastifyRequest, "raw">): Reach {
  const meant = meantSubject(key.subject, headerValues(raw.rawHeaders));
  if ("fault" in meant) throw FAULTS[meant.fault];
  return { ...librariesOf(key), subject: meant.subject };
}

/**
 * Limits a reach to the subject's own memory, without what all subjects share.
 *
 * @throws Problem `invalid_request` in a call for no subject
 */
export function ownReach(reach: Reach): Reach {
  if (reach.subject !== undefined) return { ...reach, isOwnOnly: true };
  throw problem(
    "invalid_request",
    '"own" is for a call for one subject, by a key that is declared with subjectAccess.',
  );
}

/** Returns the values of the subject header as they were sent: Node joins headers of the same name. */
function headerValues(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === SUBJECT_HEADER);
}

const FAULTS: Readonly<Record<SubjectFault, Problem>> = {
  missing: problem("subject_required"),
  malformed: problem("invalid_request", `X-Keyplane-Subject names one subject, once: ${SUBJECT_CHARACTERS}.`),
  not_declared: problem(
    "invalid_request",
    "This key is for what all share, and takes no X-Keyplane-Subject: leave the header out, or declare subjectAccess on the PlatformKey.",
  ),
  another: problem(
    "forbidden",
    "This key is bound to one subject, and X-Keyplane-Subject names another: leave the header out, or declare subjectAccess with mode Required on the PlatformKey.",
  ),
};
