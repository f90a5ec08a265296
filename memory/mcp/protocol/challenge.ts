import { MEMBER_SCOPES } from "../../../domain/access/member-access.ts";
import { readBearer } from "../../../server/auth/credential.ts";
import type { ProtectedResource } from "../../../server/auth/protected-resource.ts";
import { type Problem, problem } from "../../../server/http/problems/problem.ts";

const SCOPES = `scope="${MEMBER_SCOPES.join(" ")}"`;

/**
 * Adds to a refusal what a client needs to fetch a token by itself: where it reads which issuers there are (RFC 9728
 * §5.1), which scopes to ask for, and whether the token that it has is at fault. Any other problem stays as it is.
 */
export function challenged({ metadataUrl }: ProtectedResource, shown: Problem, rawHeaders: readonly string[]): Problem {
  const { code, detail, headers, members } = shown;
  const pointer = `resource_metadata="${metadataUrl}"`;
  const challenge = headers["www-authenticate"];
  if (challenge === undefined) return shown;
  const presented = readBearer(rawHeaders, Number.POSITIVE_INFINITY) === undefined ? "" : 'error="invalid_token", ';
  const whole = code === "unauthorized" ? `${challenge} ${presented}${pointer}, ${SCOPES}` : `${challenge}, ${pointer}`;
  return problem(code, detail, { ...headers, "www-authenticate": whole }, members);
}
