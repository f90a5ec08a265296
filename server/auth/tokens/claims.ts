import type { JWTPayload } from "jose";
import type { IssuedNames, MemberNames } from "../../../domain/access/team-member.ts";
import type { OidcConfig } from "../../context/config.ts";
import type { Principal } from "../principal.ts";

/** What a subject may be (OpenID Connect Core §2). */
const SUBJECT = /^[ -~]{1,255}$/;
const MAX_GROUPS = 1_024;

/** Subject, groups and service account from verified claims; undefined where they have no usable subject. */
export function memberNamesOf(claims: JWTPayload): MemberNames | undefined {
  // As it was signed, whatever the library's type says of it.
  const subject: unknown = claims.sub;
  if (typeof subject !== "string" || !SUBJECT.test(subject)) return undefined;
  const groups = Array.isArray(claims.groups) ? claims.groups.filter(isGroup).slice(0, MAX_GROUPS) : [];
  return { subject, groups, serviceAccount: serviceAccountOf(subject, claims) };
}

/** The principal of a person or machine by the names that an issuer gives it, in a JWT or for a session. */
export function principalOfIssuer({ adminGroups }: OidcConfig, issuer: string, names: IssuedNames): Principal {
  const isAdmin = names.groups.some((group) => adminGroups.includes(group));
  return { actor: actorOf(issuer, names), as: isAdmin ? "everything" : names };
}

/** The actor that the audit log names for a subject of an issuer. */
export function actorOf(issuer: string, { subject }: Pick<MemberNames, "subject">): string {
  return `${issuer}#${subject}`;
}

/** A text that no database can be asked for is no member's. */
function isGroup(group: unknown): group is string {
  return typeof group === "string" && !group.includes("\0") && group.isWellFormed();
}

/** By the claim that Kubernetes writes: no subject alone, which another issuer may let its people choose. */
function serviceAccountOf(subject: string, claims: JWTPayload): string | null {
  const { namespace, serviceaccount } = record(claims["kubernetes.io"]);
  const { name } = record(serviceaccount);
  if (typeof namespace !== "string" || typeof name !== "string") return null;
  return subject === `system:serviceaccount:${namespace}:${name}` ? `${namespace}/${name}` : null;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
