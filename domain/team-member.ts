import type { Spec } from "./manifest/kinds.ts";

/** Who belongs to a team, and what they may do. */
export type TeamMember = {
  readonly role: "admin" | "member" | "viewer";
  readonly kind: "subject" | "group" | "serviceAccount";
  /** An OIDC subject or group, or a ServiceAccount as `namespace/name`. */
  readonly value: string;
};

/** By what a person or a machine is named among a team's members (spec §5, PlatformTeam). */
export type MemberNames = {
  readonly subject: string;
  readonly groups: readonly string[];
  /** A Kubernetes ServiceAccount, as `namespace/name`; null for anybody else. */
  readonly serviceAccount: string | null;
};

/** A member as it is declared, which is by one of three names. */
export function teamMember(member: Spec<"PlatformTeam">["members"][number]): TeamMember {
  const { role } = member;
  if (member.serviceAccount !== undefined) {
    const { namespace, name } = member.serviceAccount;
    return { role, kind: "serviceAccount", value: `${namespace}/${name}` };
  }
  return member.group === undefined
    ? { role, kind: "subject", value: member.subject ?? "" }
    : { role, kind: "group", value: member.group };
}
