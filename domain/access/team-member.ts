import type { Spec } from "../kinds/kinds.ts";

/** A member of a team, with role and libraries. */
export type TeamMember = {
  readonly role: "admin" | "member" | "viewer";
  readonly kind: "subject" | "group" | "serviceAccount";
  /** An OIDC subject or group, or a ServiceAccount as `namespace/name`. */
  readonly value: string;
  /** Libraries that tokens reach by this role; left out for all of the team's. */
  readonly libraryRefs?: readonly { readonly namespace: string; readonly name: string }[];
};

/** Names under which a person or a machine may be a member of a team (spec §5, PlatformTeam). */
export type MemberNames = {
  readonly subject: string;
  readonly groups: readonly string[];
  /** A Kubernetes ServiceAccount, as `namespace/name`; null for any other caller. */
  readonly serviceAccount: string | null;
};

/** Names of a person or a program, from a token or a session. */
export type IssuedNames = MemberNames & {
  /**
   * Earliest time at which the token was issued, or the session begun, in milliseconds since the epoch. Tokens and
   * sessions
   * from before a team revoked the subject open nothing of that team.
   */
  readonly issuedAt: number;
};

/** Returns a declared member in one form: a member is declared by one of three kinds of name. */
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

/** Writes a member as the spec that declares it. */
export function memberSpec({ role, kind, value, libraryRefs }: TeamMember) {
  const reach = libraryRefs && { libraryRefs: libraryRefs.map(libraryRefSpec) };
  if (kind !== "serviceAccount") return { role, [kind]: value, ...reach };
  const [namespace, name] = value.split("/");
  return { role, serviceAccount: { namespace, name }, ...reach };
}

/** Writes a reference to a library; without a namespace if the library has none. */
export function libraryRefSpec({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  return { ...(namespace !== "" && { namespace }), name };
}
