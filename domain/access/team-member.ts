import type { Spec } from "../kinds/kinds.ts";

/** Who belongs to a team, and what they may do. */
export type TeamMember = {
  readonly role: "admin" | "member" | "viewer";
  readonly kind: "subject" | "group" | "serviceAccount";
  /** An OIDC subject or group, or a ServiceAccount as `namespace/name`. */
  readonly value: string;
  /** The libraries that tokens reach by it; left out for all of the team's. */
  readonly libraryRefs?: readonly { readonly namespace: string; readonly name: string }[];
};

/** By what a person or a machine is named among a team's members (spec §5, PlatformTeam). */
export type MemberNames = {
  readonly subject: string;
  readonly groups: readonly string[];
  /** A Kubernetes ServiceAccount, as `namespace/name`; null for any other caller. */
  readonly serviceAccount: string | null;
};

/** The names of a person or a program, as a token or a session says them. */
export type IssuedNames = MemberNames & {
  /**
   * When the token was issued, at the earliest, or the session begun: in milliseconds since the epoch. What was issued
   * before a team revoked the subject opens nothing of that team.
   */
  readonly issuedAt: number;
};

/** A member as it is declared, which is by one of three names. */
export function teamMember(member: Spec<"PlatformTeam">["members"][number]): TeamMember {
  const { role, libraryRefs } = member;
  const reach = libraryRefs === undefined ? {} : { libraryRefs };
  if (member.serviceAccount !== undefined) {
    const { namespace, name } = member.serviceAccount;
    return { role, kind: "serviceAccount", value: `${namespace}/${name}`, ...reach };
  }
  return member.group === undefined
    ? { role, kind: "subject", value: member.subject ?? "", ...reach }
    : { role, kind: "group", value: member.group, ...reach };
}
