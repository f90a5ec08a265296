import { type KeyRecord, unstoredKey } from "./key-record.ts";
import type { Membership, MemberToken, RoleOfMember, TeamRecord } from "./membership.ts";
import { type Scope, type ScopeSet, scopeBit, scopeSet } from "./scopes.ts";
import type { MemberNames } from "./team-member.ts";

/**
 * Maximum age in milliseconds at which a token opens the memory, whatever its issuer says: revocations of tokens are
 * kept for as long.
 */
export const MAX_TOKEN_AGE_MS = 90 * 24 * 3_600_000;
/** Scopes that tokens are asked for. */
export const MEMBER_SCOPES: readonly Scope[] = ["memory:read", "memory:write"];

const ROLE_SCOPES: ReadonlyMap<string, ScopeSet> = new Map([
  ["viewer", scopeSet(["memory:read"])],
  ["member", scopeSet(MEMBER_SCOPES)],
  ["admin", scopeSet(MEMBER_SCOPES)],
]);

/** Builds the name of a member as in {@link RoleOfMember}. */
function memberName(kind: string, value: string): string {
  return `${kind} ${value}`;
}

/** Returns all names under which a person or a program may stand among the members of a team. */
export function standingNames({ subject, groups, serviceAccount }: MemberNames): ReadonlySet<string> {
  const names = groups.map((group) => memberName("group", group));
  if (serviceAccount !== null) names.push(memberName("serviceAccount", serviceAccount));
  return new Set([memberName("subject", subject), ...names]);
}

/**
 * Returns the memory's scopes among those that a token names, in one text (RFC 6749 §3.3) or, as some issuers write
 * them, in a list. Other scopes belong to other services.
 */
export function memberScopes(claim: unknown): ScopeSet {
  const named: readonly unknown[] = typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
  return scopeSet(MEMBER_SCOPES.filter((scope) => named.includes(scope)));
}

/**
 * Returns the rights of a token's bearer in a team, in the shape of a key; undefined if the bearer is no member of it.
 * The bearer's strongest role applies, with the libraries that it is given for, and with those of its scopes that the
 * token was asked for.
 */
export function memberRecord(token: MemberToken, team: TeamRecord): KeyRecord | undefined {
  const role = roleScopes({ token, team });
  if (role === 0) return undefined;
  return unstoredKey(team, {
    // The same in all teams: concurrent calls are counted for the person.
    keyId: token.actor,
    state: isRevoked(token, team) ? "revoked" : "active",
    expiresAt: token.expiresAt,
    scopes: role & token.scopes,
    libraryIds: libraryIdsOf({ token, team }, role),
    membership: { token, team },
  });
}

function roleScopes({ token, team }: Membership): ScopeSet {
  let scopes: ScopeSet = 0;
  for (const { role, name } of team.members) if (token.names.has(name)) scopes |= ROLE_SCOPES.get(role) ?? 0;
  return scopes;
}

function isRevoked({ names, issuedAt }: MemberToken, { revoked }: TeamRecord): boolean {
  return revoked.some(({ name, atMs }) => names.has(name) && issuedAt <= atMs);
}

/** Returns the ids of the libraries that a role is given for; null for all, if one grant of the role is for all. */
function libraryIdsOf({ token, team }: Membership, scopes: ScopeSet): readonly string[] | null {
  const ids: string[] = [];
  for (const { role, name, libraryIds } of team.members) {
    if (!token.names.has(name) || ROLE_SCOPES.get(role) !== scopes) continue;
    if (libraryIds === null) return null;
    ids.push(...libraryIds);
  }
  return ids;
}

/**
 * Returns the scopes to ask a new token for, if this token has fewer than its bearer's role; undefined if no other
 * token would permit more.
 */
export function stepUpScopes(membership: Membership): readonly Scope[] | undefined {
  const role = roleScopes(membership);
  if ((role & ~membership.token.scopes) === 0) return undefined;
  return MEMBER_SCOPES.filter((scope) => (role & scopeBit(scope)) !== 0);
}
