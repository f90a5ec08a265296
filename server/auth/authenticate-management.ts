import type { IncomingMessage } from "node:http";
import type { Logger } from "../../runtime/log.ts";
import { problem } from "../http/errors.ts";
import { principalOfIssuer } from "./claims.ts";
import { presentsCredential, readBearer } from "./credential.ts";
import { IssuerUnavailableError } from "./issuer-http.ts";
import { type JudgeJwt, MAX_TOKEN_LENGTH } from "./jwt.ts";
import { isManagementToken } from "./management-token.ts";
import type { Principal } from "./principal.ts";
import { authenticateSession, type ConsoleSession, type SessionDeps } from "./session/authenticate-session.ts";

const NOBODY = { cause: "no_management_token" } as const;

/** What the decision reads. */
type AuthenticationDeps = SessionDeps & {
  /** Null where no issuer is configured. */
  readonly judgeJwt: JudgeJwt | null;
  readonly log: Logger;
};

/** Who a management request comes from, or the cause of a 401. */
export type Authenticated =
  | { readonly principal: Principal; readonly session: ConsoleSession | null }
  | { readonly cause: string };

/**
 * Decides who a management request comes from: the bearer of a token or, where it presents no credential in any carrier,
 * whoever is signed in by the session of its cookie. An API key is neither (threats b10, b11).
 *
 * @throws Problem `unavailable` while the issuer's keys cannot be had
 */
export async function authenticateManagement(
  deps: AuthenticationDeps,
  { rawHeaders, url = "" }: Pick<IncomingMessage, "rawHeaders" | "url">,
): Promise<Authenticated> {
  const presented = readBearer(rawHeaders, MAX_TOKEN_LENGTH);
  if (presented !== undefined) return authenticateBearer(deps, presented);
  return presentsCredential(rawHeaders, url, deps.config.vendorHeader) ? NOBODY : authenticateSession(deps, rawHeaders);
}

async function authenticateBearer(
  { managementToken, judgeJwt, config: { oidc }, log }: AuthenticationDeps,
  presented: string,
): Promise<Authenticated> {
  if (managementToken !== null && isManagementToken(managementToken, presented)) {
    return { principal: { actor: managementToken.actor, as: managementToken.role }, session: null };
  }
  if (judgeJwt === null || oidc === null) return NOBODY;
  try {
    const judged = await judgeJwt(presented, oidc.audience);
    if ("cause" in judged) return judged;
    return { principal: principalOfIssuer(oidc, judged.issuer, judged.names), session: null };
  } catch (error) {
    if (!(error instanceof IssuerUnavailableError)) throw error;
    log.warn({ error }, "no token of an issuer can be judged");
    throw problem("unavailable", "The issuer of this token does not answer: try again.");
  }
}
