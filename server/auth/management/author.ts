import type { FastifyRequest } from "fastify";
import { containsKey, redactKeys, sanitizeUntrusted } from "../../../domain/redact.ts";
import type { Author } from "../../../store/audit/audit.ts";
import { clientAddress } from "../../http/client-address.ts";
import { problem } from "../../http/problems/problem.ts";
import type { Principal } from "../principal.ts";

/** Longer than any honest User-Agent. */
const MAX_USER_AGENT = 256;

/** Who a management request comes from. */
export function principalOf({ managementPrincipal }: FastifyRequest): Principal {
  if (managementPrincipal === null) throw new Error("a management route was reached without a principal");
  return managementPrincipal;
}

/**
 * Who makes a change, from where and why, for the audit log.
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
 * Who does something by a request, and from where.
 *
 * @param name what their issuer calls the person; undefined where that is not known
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
