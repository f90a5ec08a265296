import type { preParsingHookHandler } from "fastify";
import { MEMBER_SCOPES, standingNames } from "../../../domain/access/member-access.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import type { BodyHolder } from "../../calls/body-budget.ts";
import type { OpenStreams } from "../../calls/calls.ts";
import { keepKeylessBody } from "../../calls/open-call.ts";
import type { KeyIndexView } from "../../key-index/key-index-view.ts";
import type { Principal } from "../principal.ts";

/**
 * Texts in place of a team's id, which none of them is: for the installation's principals, and for callers who are in
 * no team.
 */
const INSTALLATION = "installation";
const NO_TEAM = "none";

const EVER = { scopes: scopeSet(MEMBER_SCOPES), issuedAt: Number.MAX_SAFE_INTEGER, expiresAt: Number.MAX_SAFE_INTEGER };

/** Parts that count the bodies of callers without a key. */
export type ManagedBodyDeps = {
  readonly streams: Pick<OpenStreams, "openBody">;
  readonly index: Pick<KeyIndexView, "findMember">;
};

/** Counts the bodies of a route of the management API, or of a form of the console. */
export function keepManagedBody({ streams, index }: ManagedBodyDeps): preParsingHookHandler {
  return keepKeylessBody(streams, ({ managementPrincipal }) =>
    managementPrincipal === null ? undefined : managedBodyHolder(index, managementPrincipal),
  );
}

/**
 * Returns the holder of a management request's body: its caller in the place of a key, and one of the caller's teams.
 * The team is read from the index, however old it is, and opens nothing.
 */
export function managedBodyHolder(
  index: Pick<KeyIndexView, "findMember">,
  { actor: keyId, as }: Principal,
): BodyHolder {
  if (typeof as === "string") return { keyId, teamId: INSTALLATION };
  const [member] = index.findMember({ actor: keyId, names: standingNames(as), ...EVER }, null);
  return { keyId, teamId: member?.teamId ?? NO_TEAM };
}

/**
 * Returns the team whose memory budget the answer to a management request takes, beside its caller's own; null for a
 * principal of the installation.
 */
export function managedAnswerTeam(index: Pick<KeyIndexView, "findMember">, principal: Principal | null): string | null {
  if (principal === null || typeof principal.as === "string") return null;
  return managedBodyHolder(index, principal).teamId;
}
