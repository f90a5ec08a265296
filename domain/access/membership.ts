import type { DeclaredLimits } from "./rate-limit.ts";
import type { ScopeSet } from "./scopes.ts";

/** A team as requests are decided by. */
export type TeamRecord = {
  readonly teamId: string;
  readonly name: string;
  readonly cluster: string;
  /** Of its MCP agent policy, where that library is there. */
  readonly defaultLibraryId: string | null;
  readonly members: readonly RoleOfMember[];
  /** The networks that its keys and its members' tokens may be used from; null for anywhere. */
  readonly allowedCIDRs: readonly string[] | null;
  /** What all calls of its keys and of its members' tokens have together; null for no limit. */
  readonly limits: DeclaredLimits | null;
  /** Whose tokens are refused that were issued until then, in milliseconds since the epoch. */
  readonly revoked: readonly { readonly name: string; readonly atMs: number }[];
};

/** A role that a team gives. One of a later build gives nothing. */
export type RoleOfMember = {
  readonly role: string;
  /** The kind of name that they stand by, and the name: `group leads`. */
  readonly name: string;
  /** Ids of the libraries that may be reached by it, or null for all of the team's. */
  readonly libraryIds: readonly string[] | null;
};

/** What a token of an issuer says of its bearer and what it was asked for, once it is verified. */
export type MemberToken = {
  /** As the audit log names its bearer. */
  readonly actor: string;
  /** Everything that its bearer may stand by among members, as {@link RoleOfMember} has it. */
  readonly names: ReadonlySet<string>;
  /** Of the memory's, those that it was asked for. */
  readonly scopes: ScopeSet;
  /** The earliest that it may have been issued, by a clock that may be off; in milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** Who makes a request with a token in place of a key, and the team as it was when that was decided. */
export type Membership = { readonly token: MemberToken; readonly team: TeamRecord };
