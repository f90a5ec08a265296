import type { FastifyRequest } from "fastify";
import { containsKey, redactKeys, sanitizeUntrusted } from "../../../domain/redact.ts";
import type { Author } from "../../../store/audit/audit.ts";
import { clientAddress } from "../../http/client-address.ts";
import { problem } from "../../http/problems/problem.ts";
import type { Principal } from "../principal.ts";

/** Characters of a User-Agent that are kept: more than any honest one has. */
const MAX_USER_AGENT = 256;

/** Returns the principal of a management request. Throws if it has none. */
export function principalOf({ managementPrincipal }: FastifyRequest): Principal {
  if (managementPrincipal === null) throw new Error("a management route was reached without a principal");
  return managementPrincipal;
}

/**
 * Returns the author of a change, with their address and their reason, for the audit log.
 *
 * @throws Problem `invalid_request` for a reason that holds what looks like a key: it would be kept
 */
export function authorOf(request: FastifyRequest, reason: string | undefined): Author {
  if (reason !== undefined && containsKey(reason)) {
    throw problem("invalid_request", "The reason holds what looks like a key: write it without, it is kept.");
  }
  return { ...authorAs(principalOf(request).actor, request), ...(reason === undefined ? {} : { why: reason }) };
}

/**
 * Returns the author of what is done by a request, with their address.
 *
 * @param name the person's name at their issuer; undefined if it is not known
 */
export function authorAs(
  actor: string,
  request: FastifyRequest,
  name: string | undefined = nameIn(request.session),
): Author {
  const userAgent = request.headers["user-agent"];
  return {
    actor,
    ...(name === undefined ? {} : { actorName: redactKeys(name) }),
    address: clientAddress(request),
    ...(userAgent === undefined ? {} : { userAgent: sanitizeUntrusted(userAgent, MAX_USER_AGENT) }),
  };
}

function nameIn(session: FastifyRequest["session"]): string | undefined {
  return session === null || session.issuer === null ? undefined : session.displayName;
}
