import type { Logger } from "../../runtime/log.ts";
import { problem } from "../http/errors.ts";
import { readBearer } from "./credential.ts";
import { IssuerUnavailableError } from "./issuer-keys.ts";
import type { JudgedJwt } from "./jwt.ts";
import { isManagementToken, type ManagementToken } from "./management-token.ts";
import type { Principal } from "./principal.ts";

/** A JWT with its claims and its signature fits; a request's head is no larger than twice that. */
const MAX_TOKEN_LENGTH = 8_192;
const NOBODY = { cause: "no_management_token" } as const;

/** What the decision reads. */
type AuthenticationDeps = {
  /** Null where the installation has none. */
  readonly managementToken: ManagementToken | null;
  /** Null where no issuer is configured. */
  readonly judgeJwt: ((token: string) => Promise<JudgedJwt>) | null;
  readonly log: Logger;
};

/**
 * Decides who a management request comes from. Nothing but the Bearer credential is looked at: no cookie and no other
 * carrier, and an API key is no token (threats b10, b11).
 *
 * @returns or the cause of a 401
 * @throws Problem `unavailable` while the issuer's keys cannot be had
 */
export async function authenticateManagement(
  { managementToken, judgeJwt, log }: AuthenticationDeps,
  rawHeaders: readonly string[],
): Promise<{ readonly principal: Principal } | { readonly cause: string }> {
  const presented = readBearer(rawHeaders, MAX_TOKEN_LENGTH);
  if (presented === undefined) return NOBODY;
  if (managementToken !== null && isManagementToken(managementToken, presented)) {
    return { principal: { actor: managementToken.actor, as: managementToken.role } };
  }
  if (judgeJwt === null) return NOBODY;
  try {
    return await judgeJwt(presented);
  } catch (error) {
    if (!(error instanceof IssuerUnavailableError)) throw error;
    log.warn({ error }, "no token of an issuer can be judged");
    throw problem("unavailable", "The issuer of this token does not answer: try again.");
  }
}
