import type { DeclaredLimits } from "./rate-limit.ts";
import type { ScopeSet } from "./scopes.ts";

/** A team as decisions on requests read it. */
export type TeamRecord = {
  readonly teamId: string;
  readonly name: string;
  readonly cluster: string;
  /** Default library of its MCP agent policy; null if there is none, or if that library does not exist. */
  readonly defaultLibraryId: string | null;
  readonly members: readonly RoleOfMember[];
  /** Networks from which its keys and its members' tokens may be used; null for any. */
  readonly allowedCIDRs: readonly string[] | null;
  /** Limits that all calls of its keys and of its members' tokens share; null for none. */
  readonly limits: DeclaredLimits | null;
  /** Members whose tokens are refused if they were issued until the given time, in milliseconds since the epoch. */
  readonly revoked: readonly { readonly name: string; readonly atMs: number }[];
};

/** A role that a team gives to a member. A role unknown to this build gives no rights. */
export type RoleOfMember = {
  readonly role: string;
  /** Kind and name of the member: `group leads`. */
  readonly name: string;
  /** Ids of the libraries that the role gives access to, or null for all of the team's. */
  readonly libraryIds: readonly string[] | null;
};

/** Verified claims of an issuer's token about its bearer, and the scopes that it was asked for. */
export type MemberToken = {
  /** Name of its bearer in the audit log. */
  readonly actor: string;
  /** All names under which its bearer may be a member, in the form of {@link RoleOfMember}. */
  readonly names: ReadonlySet<string>;
  /** Scopes of the memory that it was asked for. */
  readonly scopes: ScopeSet;
  /** Earliest time at which it may have been issued, by a clock that may be off; in milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** Caller with a token instead of a key, and the team as it was when the request was decided. */
export type Membership = { readonly token: MemberToken; readonly team: TeamRecord };
