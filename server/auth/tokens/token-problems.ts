import { stepUpScopes } from "../../../domain/access/member-access.ts";
import type { Membership } from "../../../domain/access/membership.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";

/** Returns the challenge with the scopes that a client is to ask its authorization server for (RFC 6750 §3.1). */
export function scopeChallenge(scopes: readonly string[]): string {
  return `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`;
}

export const ISSUER_UNAVAILABLE = problem("unavailable", "The issuer of this token does not answer: try again.");

const ROLE_LACKS = problem(
  "forbidden",
  "The role of this token's bearer in the team does not have the right to do this: spec.members of the PlatformTeam gives roles.",
);

/**
 * Returns the refusal of a token that lacks a scope. It names all scopes to ask for at once, so that a client that
 * takes a new token loses none. If the bearer's role allows no more, it names none: a new token would be refused again.
 */
export function lacksScope(membership: Membership): Problem {
  const scopes = stepUpScopes(membership);
  if (scopes === undefined) return ROLE_LACKS;
  const detail = `This token was not asked for what this takes: ask for one with the scope ${scopes.join(" ")}.`;
  return problem("forbidden", detail, { "www-authenticate": scopeChallenge(scopes) });
}

/** Answers to a token's bearer, by the causes that only a token is refused for. */
export const TOKEN_PROBLEMS: ReadonlyMap<string, Problem> = new Map([
  ["issuer_unavailable", ISSUER_UNAVAILABLE],
  [
    "no_member",
    problem(
      "forbidden",
      "The bearer of this token is a member of no team here, or not of the one that the address names by `team`: spec.members of a PlatformTeam says who is.",
    ),
  ],
  [
    "malformed_team",
    problem(
      "invalid_request",
      "The address names no team that there can be: write one name or id, as `?team=<name>`, with `&` before what comes behind it.",
    ),
  ],
  [
    "several_teams",
    problem(
      "invalid_request",
      "The bearer of this token is a member of several teams: name one of them in the address, as `?team=<name>`, or by its id where two have one name.",
    ),
  ],
]);
