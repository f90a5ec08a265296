import type { FastifyRequest } from "fastify";
import type { ServerDeps } from "../deps.ts";
import type { Refused } from "./decide.ts";

/** Why a request is refused, and with which key; with whose token where the management API knows them. */
type RecordedRefusal = Pick<Refused, "code" | "cause" | "key"> & { readonly principal?: string | undefined };

/**
 * Counts a refusal by its cause, and tells the audit log of it.
 *
 * @param route the pattern that was matched
 */
export function recordRefusal(
  { clock, index, metrics, refusals }: ServerDeps,
  client: FastifyRequest,
  route: string | undefined,
  { code, cause, key, principal }: RecordedRefusal,
): void {
  metrics.countRefusal(cause);
  refusals.record({
    client,
    at: clock.now(),
    code,
    cause,
    seq: index.lastSeq(),
    route,
    keyId: key?.keyId ?? null,
    teamId: key?.teamId ?? null,
    principal,
  });
}
