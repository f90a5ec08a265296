/** The listener for external authorization: proxies ask it about requests, and services about keys. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Registry } from "@prometheus-io/client";
import type { Logger } from "../../runtime/log.ts";
import { recordRefusal } from "../auth/refusals/record-refusal.ts";
import { forbidden } from "../auth/refused.ts";
import type { AuthzConfig, ServerConfig } from "../context/config.ts";
import { STRICT } from "../http/connections/listener.ts";
import { problem } from "../http/problems/problem.ts";
import { problemOf, STALE_VIEW } from "../http/problems/problem-of.ts";
import { sendDocument, sendNo, sendProblemDocument, sendYes } from "./answers.ts";
import type { AskedRequest } from "./asked-request.ts";
import { Asker } from "./asker.ts";
import { introspect, readIntrospectedToken } from "./introspection.ts";
import { readListenerCertificate, watchCertificate } from "./listener-certificate.ts";
import { countVerdict } from "./outcome.ts";
import { openPeers, type Peers, UNKNOWN_PEER, UNKNOWN_SERVICE } from "./peers.ts";
import type { Verdict, VerifierDeps } from "./verdict.ts";
import { verify } from "./verifier.ts";
import { readVerifierPath, type VerifierPath } from "./verifier-path.ts";

/** Parts that the listener works with. */
export type AuthzDeps = VerifierDeps & {
  readonly log: Logger;
  readonly metrics: { readonly registry: Registry };
  readonly config: Pick<ServerConfig, "vendorHeader">;
};

const NO_QUESTION = problem(
  "not_found",
  "Proxies ask at /authz/<proxy>/g/<public id> and /authz/<proxy>/scope/<scope>, of nginx, traefik, caddy and envoy; services at /introspect.",
);
/** Answer to a form that is none of RFC 7662. */
const BAD_FORM = {
  error: "invalid_request",
  error_description: "Send POST with application/x-www-form-urlencoded and one parameter `token`.",
};
/** Bytes of a head: nginx takes 32 KiB of its clients, Envoy 60, and for a refusal here their callers get 503. */
const MAX_HEAD = 64 << 10;
const OPTIONS = { ...STRICT, maxHeaderSize: MAX_HEAD };
const INTROSPECTION = /^\/introspect(\/unmetered)?$/;

/**
 * Makes the listener.
 *
 * @returns the server, and what ends the reading of its files
 * @throws ConfigError if its certificate or its token cannot be had
 */
export async function createVerifierServer(
  deps: AuthzDeps,
  { tls, tokenFile, addressHeader }: Pick<AuthzConfig, "tls" | "tokenFile" | "addressHeader">,
): Promise<{ readonly server: Server; end(): Promise<void> }> {
  const certificate = tls && (await readListenerCertificate(tls));
  const peers = await openPeers(tokenFile, deps.log);
  const answer = answerer(deps, peers, addressHeader);
  // Node silently drops headers beyond a count, and a second credential with them: their size is the bound.
  if (certificate === null) {
    const server = createServer(OPTIONS, answer);
    server.maxHeadersCount = 0;
    return { server, end: async () => peers.close() };
  }
  const server = createTlsServer({ ...OPTIONS, ...certificate }, answer);
  server.maxHeadersCount = 0;
  const endRenewals = watchCertificate(server, certificate, deps);
  return {
    server,
    async end() {
      peers.close();
      await endRenewals();
    },
  };
}

/** Reads the listener's files once, so that a fault ends the start. @throws ConfigError as {@link createVerifierServer} */
export async function checkAuthz({ tls, tokenFile }: AuthzConfig): Promise<void> {
  if (tls !== null) await readListenerCertificate(tls);
  (await openPeers(tokenFile)).close();
}

function answerer(deps: AuthzDeps, peers: Peers, addressHeader: string | null) {
  /** Connections that have been refused: what has come behind such a question is not looked at. */
  const left = new WeakSet<Socket>();
  return (question: IncomingMessage, response: ServerResponse): void => {
    response.on("error", ignore);
    const { socket } = question;
    if (left.has(socket)) return;
    const fail = (error: unknown): void => {
      deps.log.error({ error }, "a question to the verifier failed");
      if (response.headersSent) response.destroy();
      else sendProblemDocument(response, problemOf(error));
    };
    try {
      const { url = "" } = question;
      const [, unmetered] = INTROSPECTION.exec(url) ?? [undefined, null];
      const asker = new Asker(question, addressHeader);
      if (!peers.mayAsk(question, unmetered !== null)) {
        // What it says of its caller's address is not believed.
        const peer = { ip: socket.remoteAddress, raw: question };
        recordRefusal(deps, peer, "/authz", forbidden("unknown_peer", undefined));
        // Nothing more of its connection is read.
        response.shouldKeepAlive = false;
        left.add(socket);
        sendProblemDocument(response, unmetered === null ? UNKNOWN_PEER : UNKNOWN_SERVICE);
        return;
      }
      if (unmetered !== null) {
        answerIntrospection(deps, question, response, unmetered !== undefined).catch(fail);
        return;
      }
      const path = readVerifierPath(url);
      if (path === undefined) {
        sendProblemDocument(response, NO_QUESTION);
        return;
      }
      const { asked, verdict } = verify(deps, path, question, asker);
      if (verdict instanceof Promise) {
        verdict.then((waited) => answerVerdict(deps, path, asker, response, asked, waited)).catch(fail);
      } else answerVerdict(deps, path, asker, response, asked, verdict);
    } catch (error) {
      fail(error);
    }
  };
}

function answerVerdict(
  deps: AuthzDeps,
  path: VerifierPath,
  asker: Asker,
  response: ServerResponse,
  asked: AskedRequest | undefined,
  verdict: Verdict,
): void {
  const shown = countVerdict(deps, path, asker, asked, verdict);
  if (shown !== undefined) sendNo(response, shown, path, asked, deps.config.vendorHeader);
  else if (verdict.granted) sendYes(response, verdict);
}

async function answerIntrospection(
  deps: AuthzDeps,
  question: IncomingMessage,
  response: ServerResponse,
  isUnmetered: boolean,
): Promise<void> {
  const token = await readIntrospectedToken(question);
  if (token === undefined) {
    // The rest of a body that has not ended is not read.
    response.shouldKeepAlive = false;
    return sendDocument(response, 400, BAD_FORM);
  }
  if (!deps.index.isCurrent()) return sendProblemDocument(response, STALE_VIEW);
  sendDocument(response, 200, introspect(deps, token, isUnmetered, deps.clock.now()));
}

const ignore = (): void => {};
