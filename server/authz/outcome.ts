/** Verdicts on questions, counted and recorded, whichever protocol they came by. */
import { problemFor } from "../auth/key-hook.ts";
import { foreignAddress, OF_PROXIES } from "../auth/refusals/foreign-address.ts";
import { recordRefusal } from "../auth/refusals/record-refusal.ts";
import type { Refused } from "../auth/refused.ts";
import { unservedPath } from "../gateway/unserved-path.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import type { AskedRequest } from "./asked-request.ts";
import type { Asker } from "./asker.ts";
import type { Denied, Verdict, VerifierDeps } from "./verdict.ts";
import type { VerifierPath } from "./verifier-path.ts";

const NO_OPERATION = problem("not_found");

/**
 * Counts the use of a key that was let through, or a refusal.
 *
 * @returns the problem to answer; undefined if the request may go on
 */
export function countVerdict(
  deps: VerifierDeps,
  path: VerifierPath,
  asker: Asker,
  asked: AskedRequest | undefined,
  verdict: Verdict,
): Problem | undefined {
  if (!verdict.granted) return countDenied(deps, path, asker, asked, verdict);
  const { key, operation } = verdict;
  const now = deps.clock.now();
  deps.usage.record(key, now, asker);
  deps.usage.countRequest(key, operation, now);
  return undefined;
}

function countDenied(
  deps: VerifierDeps,
  path: VerifierPath,
  asker: Asker,
  asked: AskedRequest | undefined,
  denied: Denied,
): Problem {
  const { refused } = denied;
  if (refused !== undefined) recordRefusal(deps, asker, path.pattern, refused);
  return denied.shown ?? problemOfRefused(deps, path, asker, asked, denied.refused);
}

function problemOfRefused(
  deps: VerifierDeps,
  { protects }: VerifierPath,
  asker: Asker,
  asked: AskedRequest | undefined,
  refused: Refused,
): Problem {
  if (refused.by.kind === "source address") return foreignAddress(asker, refused.by.list, OF_PROXIES);
  const gateway = "publicId" in protects ? deps.index.findGateway(protects.publicId) : undefined;
  const notFound =
    gateway !== undefined && refused.code === "not_found" && asked !== undefined
      ? unservedPath(gateway, asked.method, asked.path.slice(1))
      : NO_OPERATION;
  return problemFor(deps, asker, refused, notFound);
}
