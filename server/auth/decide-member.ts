import type { Client } from "../../domain/access/source-addresses.ts";
import type { Logger } from "../../runtime/log.ts";
import type { ServerConfig } from "../context/config.ts";
import { chargeGranted, type DecisionDeps, decideForKey, type Granted, type RouteAccess } from "./decide.ts";
import { memberTokenOf, presentedToken } from "./member-token.ts";
import { protectedResource } from "./protected-resource.ts";
import { noSingleTeam, notAMember, type Refused, STALE, tooManyCalls, unauthorized, unavailable } from "./refused.ts";
import { type ValidateJwt, validateOrWarn } from "./tokens/jwt.ts";

/** Pattern of a team's name or id. */
const TEAM = /^[a-z0-9][-_.a-z0-9]{0,252}$/;

/** Decides a request; undefined for a request that presents no token. */
type DecideToken = (
  rawHeaders: readonly string[],
  url: string,
  route: RouteAccess,
  client: Client,
) => Promise<Granted | Refused> | undefined;

/** Parts that decide requests that present a token. */
export type TokenDeciderDeps = Pick<DecisionDeps, "index" | "clock" | "streams" | "installationLimits"> & {
  readonly config: Pick<ServerConfig, "oidc" | "publicUrl" | "vendorHeader">;
  readonly log: Logger;
  /** Null if no issuer is trusted. */
  readonly validateJwt: ValidateJwt | null;
};

/**
 * Creates the decider of requests that present a token of an issuer, and of no others; undefined if no token opens
 * anything.
 */
export function tokenDecider(deps: TokenDeciderDeps): DecideToken | undefined {
  const { config, validateJwt } = deps;
  const audience = protectedResource(config)?.url;
  if (validateJwt === null || audience === undefined) return undefined;
  const memberDeps = { ...deps, validateJwt, audience };
  return (rawHeaders, url, route, client) => {
    const token = presentedToken(rawHeaders, url, config.vendorHeader);
    return token === undefined ? undefined : decideMember(memberDeps, { token, client }, url, route);
  };
}

/** Parts that the decision reads. */
type MemberDecisionDeps = Omit<TokenDeciderDeps, "config" | "validateJwt"> & {
  readonly validateJwt: ValidateJwt;
  /** Audience that a token needs. */
  readonly audience: string;
};

/**
 * Decides a request of a token's bearer from its head alone, as `decide` does a request with a key: by the members of
 * the team that the address names, or of the only team that the bearer belongs to (docs/decisions/mcp-oauth.md). It
 * waits for the issuer's keys, and now and then for a limit of the installation.
 *
 * @param url the request's target as it was sent: only its query is read here
 */
async function decideMember(
  deps: MemberDecisionDeps,
  { token, client }: { readonly token: string; readonly client: Client },
  url: string,
  route: RouteAccess,
): Promise<Granted | Refused> {
  const { index, streams, clock, audience } = deps;
  if (!index.isCurrent()) return STALE;
  const validation = await validateOrWarn(deps, token, audience);
  if (validation === undefined) return unavailable("issuer_unavailable");
  if ("cause" in validation) return unauthorized(validation.cause);
  if (!index.isCurrent()) return STALE;
  const memberToken = memberTokenOf(validation);
  // A revocation reaches the tokens that were issued before it: one of the future would outlast it.
  if (memberToken.issuedAt > clock.now()) return unauthorized("jwt_claims");
  const named = namedTeam(url);
  if (named === undefined) return noSingleTeam("malformed_team", memberToken);
  const [record, ...others] = index.findMember(memberToken, named);
  if (record === undefined) return notAMember(memberToken);
  if (others.length > 0) return noSingleTeam("several_teams", memberToken);
  const decided = decideForKey(deps, record, route, client);
  if ("granted" in decided) return decided;
  const { key } = decided;
  const full = streams.fullOf(key);
  if (full !== undefined) return tooManyCalls(key, full);
  return chargeGranted(deps, { granted: true, ...decided, carrier: "bearer", client, rates: [] });
}

/** Returns the team that the address names, by name or id; null if it names none, and undefined if it can be none. */
function namedTeam(url: string): string | null | undefined {
  const query = url.indexOf("?");
  const [named, ...more] = query === -1 ? [] : new URLSearchParams(url.slice(query)).getAll("team");
  if (named === undefined) return null;
  return more.length === 0 && TEAM.test(named) ? named : undefined;
}
