import type { JWTPayload } from "jose";
import type { IssuedNames, MemberNames } from "../../../domain/access/team-member.ts";
import { isStorableText } from "../../../domain/storable-text.ts";
import type { OidcConfig } from "../../context/config.ts";
import type { Principal } from "../principal.ts";

/** Pattern of a subject (OpenID Connect Core §2). */
const SUBJECT = /^[ -~]{1,255}$/;
const MAX_GROUPS = 1_024;

/** Returns subject, groups and service account from verified claims; undefined if they have no usable subject. */
export function memberNamesOf(claims: JWTPayload): MemberNames | undefined {
  // As it was signed, whatever the library's type says of it.
  const subject: unknown = claims.sub;
  if (typeof subject !== "string" || !SUBJECT.test(subject)) return undefined;
  const groups = Array.isArray(claims.groups) ? claims.groups.filter(isGroup).slice(0, MAX_GROUPS) : [];
  return { subject, groups, serviceAccount: serviceAccountOf(subject, claims) };
}

/** Returns the principal of a person or machine by the names that an issuer gives it, in a JWT or for a session. */
export function principalOfIssuer({ adminGroups }: OidcConfig, issuer: string, names: IssuedNames): Principal {
  const isAdmin = names.groups.some((group) => adminGroups.includes(group));
  return { actor: actorOf(issuer, names), as: isAdmin ? "everything" : names };
}

/** Returns the actor that the audit log names for a subject of an issuer. */
export function actorOf(issuer: string, { subject }: Pick<MemberNames, "subject">): string {
  return `${issuer}#${subject}`;
}

/** True for a text that a database can be asked for: no other text is a group of a member. */
function isGroup(group: unknown): group is string {
  return typeof group === "string" && isStorableText(group);
}

/**
 * Returns the service account, by the claim that Kubernetes writes: not by the subject alone, which another issuer may
 * let its people choose.
 */
function serviceAccountOf(subject: string, claims: JWTPayload): string | null {
  const { namespace, serviceaccount } = record(claims["kubernetes.io"]);
  const { name } = record(serviceaccount);
  if (typeof namespace !== "string" || typeof name !== "string") return null;
  return subject === `system:serviceaccount:${namespace}:${name}` ? `${namespace}/${name}` : null;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
