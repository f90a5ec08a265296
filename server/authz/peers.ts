import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Logger } from "../../runtime/log.ts";
import { readBearer } from "../auth/credential.ts";
import { openFileToken } from "../auth/management/file-token.ts";
import { tokenDigest } from "../auth/management/management-token.ts";
import { problem } from "../http/problems/problem.ts";
import { singleHeader } from "./asked-request.ts";

/** Header in which a proxy sends the token by which it is known. */
const TOKEN_HEADER = "x-keyplane-authz-token";
/** Characters of a token that is compared at most. */
const MAX_TOKEN = 512;

const WHO_ASKS =
  "What asks is not known here: its operator has it send the token of --authz-token-file in X-Keyplane-Authz-Token.";
/** Answer to a proxy without the token. */
export const UNKNOWN_PEER = problem("forbidden", WHO_ASKS);
/** Answer to a service without the token, by its status (RFC 7662 §2.3). */
export const UNKNOWN_SERVICE = problem("unauthorized", WHO_ASKS);

/** Programs that may ask the verifier. Those without a certificate of its authorities never get as far as a request. */
export type Peers = {
  /**
   * True if a question comes from a peer that may ask.
   *
   * @param takesBearer true if the token may come as `Authorization: Bearer` too, which proxies' questions have a key in
   */
  mayAsk(question: Pick<IncomingMessage, "rawHeaders">, takesBearer: boolean): boolean;
  close(): void;
};

/**
 * Opens the file of the token.
 *
 * @param tokenFile null if certificates alone say who may ask
 * @param log logs changes and faults of the file
 * @throws ConfigError if the file holds no token
 */
export async function openPeers(tokenFile: string | null, log?: Logger): Promise<Peers> {
  if (tokenFile === null) return { mayAsk: () => true, close() {} };
  const token = await openFileToken(tokenFile, { flag: "--authz-token-file", token: "proxies' token" }, log);
  const isToken = (presented: string | undefined): boolean =>
    presented !== undefined &&
    presented.length <= MAX_TOKEN &&
    token.digest !== null &&
    timingSafeEqual(tokenDigest(presented), token.digest);
  return {
    mayAsk: ({ rawHeaders }, takesBearer) =>
      isToken(singleHeader(rawHeaders, TOKEN_HEADER)) || (takesBearer && isToken(readBearer(rawHeaders, MAX_TOKEN))),
    close: () => token.close(),
  };
}
